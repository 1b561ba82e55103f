SELECT create_time FROM biz_outbox_event WHERE id = ?
