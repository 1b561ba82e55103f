-- As find_numbers, whatever the caller's snapshot of an earlier moment shows.
SELECT {columns} FROM biz_outbox_event WHERE event_no IN ({list}) /*!80017 FOR SHARE *//*M! LOCK IN SHARE MODE */
