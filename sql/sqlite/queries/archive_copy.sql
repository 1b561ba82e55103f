-- ?1 id, ?2 now. REPLACE: a foreign writer may have used an archived number again; the newer event stays.
INSERT OR REPLACE INTO biz_outbox_event_archive ({columns}, archive_time)
SELECT {columns}, ?2 FROM biz_outbox_event WHERE id = ?1
