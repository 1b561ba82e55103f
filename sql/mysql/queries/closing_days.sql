-- ? ? after this day, up to that one: days that are over, and were perhaps counted too early.
SELECT DISTINCT {stat_day} FROM biz_event_stat WHERE stat_date > {date} AND stat_date <= {date}
