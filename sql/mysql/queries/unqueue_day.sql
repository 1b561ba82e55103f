-- ? day.
DELETE FROM waybill_stat_day WHERE stat_date = {date}
