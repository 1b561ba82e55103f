-- The oldest transaction of anybody, when it is older than a minute.
SELECT COUNT(*), MAX(TIMESTAMPDIFF(SECOND, trx_started, NOW())), MIN(trx_mysql_thread_id)
FROM information_schema.innodb_trx WHERE trx_started < NOW() - INTERVAL 1 MINUTE
