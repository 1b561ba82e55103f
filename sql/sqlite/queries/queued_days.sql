SELECT {stat_day} FROM waybill_stat_day
