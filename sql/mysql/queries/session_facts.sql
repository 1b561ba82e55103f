SELECT @@global.time_zone, @@global.sql_mode
