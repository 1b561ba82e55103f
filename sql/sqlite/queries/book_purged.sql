-- ?1 day, ?2 type, ?3 status, ?4 count, ?5 now. A row made here counts nothing until its day is rolled up.
INSERT INTO biz_event_stat (stat_date, event_type, publish_status, event_count, purged_count, update_time)
VALUES ({date}, ?2, ?3, 0, ?4, ?5)
ON CONFLICT DO UPDATE SET purged_count = purged_count + excluded.purged_count
