-- ?1 day.
INSERT INTO waybill_stat_day (stat_date) VALUES ({date}) ON CONFLICT (stat_date) DO NOTHING
