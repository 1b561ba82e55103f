-- ? day, ? type, ? status, ? count.
INSERT INTO biz_event_stat (stat_date, event_type, publish_status, event_count, update_time)
VALUES ({date}, ?, ?, ?, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE event_count = VALUES(event_count), update_time = VALUES(update_time)
