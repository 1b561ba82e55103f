-- Events of a day; made by the first `rollup`, so that a store without one need not pay for it.
CREATE INDEX IF NOT EXISTS idx_create_time ON biz_outbox_event (create_time)
