-- ? day.
SELECT event_type, publish_status, event_count, purged_count FROM biz_event_stat WHERE stat_date = {date}
