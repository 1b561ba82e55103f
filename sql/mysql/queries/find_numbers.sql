SELECT {columns} FROM biz_outbox_event WHERE event_no IN ({list})
