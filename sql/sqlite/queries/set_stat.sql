-- ?1 day, ?2 type, ?3 status, ?4 count, ?5 now.
INSERT INTO biz_event_stat (stat_date, event_type, publish_status, event_count, update_time)
VALUES ({date}, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET event_count = excluded.event_count, update_time = excluded.update_time
