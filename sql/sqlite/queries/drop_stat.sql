-- ?1 day, ?2 type, ?3 status.
DELETE FROM biz_event_stat WHERE stat_date = {date} AND event_type = ?2 AND publish_status = ?3
