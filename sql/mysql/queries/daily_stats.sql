-- {conditions}: from day, until day, type, as far as they are asked for.
SELECT {stat_day}, event_type, publish_status, event_count FROM biz_event_stat
WHERE {conditions}
ORDER BY stat_date, event_type, publish_status
