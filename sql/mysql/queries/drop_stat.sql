-- ? day, ? type, ? status.
DELETE FROM biz_event_stat WHERE stat_date = {date} AND event_type = ? AND publish_status = ?
