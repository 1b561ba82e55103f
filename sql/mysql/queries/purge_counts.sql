-- ids…: what they are in biz_event_stat, and the highest.
SELECT TO_DAYS(create_time) - 719528, event_type, publish_status, COUNT(*), MAX(id) FROM {table} FORCE INDEX (PRIMARY)
WHERE id IN ({list}) AND deleted = 0 GROUP BY 1, event_type, publish_status
