-- ? day, ? type, ? status, ? count. A row made here counts nothing until its day is rolled up.
INSERT INTO biz_event_stat (stat_date, event_type, publish_status, event_count, purged_count, update_time)
VALUES ({date}, ?, ?, 0, ?, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE purged_count = purged_count + VALUES(purged_count)
