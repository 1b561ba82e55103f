-- Heads and followers of each aggregate; made when ordering is first asked for.
CREATE INDEX IF NOT EXISTS idx_outbox_order ON biz_outbox_event (aggregate_type, aggregate_id)
    WHERE publish_status <> 2 AND publish_status <> 4 AND deleted = 0
