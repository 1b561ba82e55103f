SELECT {columns} FROM biz_outbox_event_archive WHERE event_no IN ({list})
