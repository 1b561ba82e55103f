-- ?1 from, ?2 until (days), ?3 event type; NULL: any.
SELECT {stat_day}, event_type, publish_status, event_count FROM biz_event_stat
WHERE stat_date >= coalesce({date}, '') AND stat_date < coalesce({until}, 'later')
  AND (?3 IS NULL OR event_type = ?3) AND event_count > 0
ORDER BY stat_date, event_type, publish_status
