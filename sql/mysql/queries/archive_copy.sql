-- ids… REPLACE: a foreign writer may have used an archived number again; the newer event stays.
REPLACE INTO biz_outbox_event_archive ({columns}, archive_time)
SELECT {columns}, UTC_TIMESTAMP(6) FROM biz_outbox_event WHERE id IN ({list})
