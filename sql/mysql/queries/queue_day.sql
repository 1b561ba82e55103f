-- ? day.
INSERT IGNORE INTO waybill_stat_day (stat_date) VALUES ({date})
