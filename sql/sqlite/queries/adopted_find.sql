SELECT {columns} FROM biz_outbox_event
