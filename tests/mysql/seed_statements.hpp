#pragma once
// Statements of the seed 000_847b01ea0ee57eb3, part "Outbox事件表模型", sections "常用查询" and "常用写入": each under
// the seed's heading and byte for byte as it stands there. They are the specification; nothing here may be adapted.

#include <array>
#include <string_view>

namespace waybill::test::seed {

/// 查询待发布事件
inline constexpr std::string_view kPending = R"(SELECT
    id,
    event_no,
    aggregate_type,
    aggregate_id,
    event_type,
    event_version,
    event_source,
    publish_channel,
    topic,
    routing_key,
    event_payload,
    event_headers,
    retry_count,
    max_retry_count,
    trace_id,
    create_time
FROM biz_outbox_event
WHERE deleted = 0
  AND publish_status = 0
ORDER BY create_time ASC
LIMIT 100)";

/// 查询到期可重试事件
inline constexpr std::string_view kRetryable = R"(SELECT
    id,
    event_no,
    aggregate_type,
    aggregate_id,
    event_type,
    publish_channel,
    topic,
    routing_key,
    event_payload,
    retry_count,
    max_retry_count,
    next_retry_time,
    fail_reason
FROM biz_outbox_event
WHERE deleted = 0
  AND publish_status = 3
  AND retry_count < max_retry_count
  AND next_retry_time <= NOW()
ORDER BY next_retry_time ASC
LIMIT 100)";

/// 查询锁定超时事件
inline constexpr std::string_view kLeaseRanOut = R"(SELECT
    id,
    event_no,
    aggregate_type,
    aggregate_id,
    event_type,
    publish_status,
    locked_by,
    lock_until,
    last_publish_time,
    retry_count,
    fail_reason
FROM biz_outbox_event
WHERE deleted = 0
  AND publish_status = 1
  AND lock_until <= NOW()
ORDER BY lock_until ASC
LIMIT 100)";

/// 根据聚合对象查询事件
inline constexpr std::string_view kOfAggregate = R"(SELECT
    id,
    event_no,
    event_type,
    event_version,
    publish_status,
    retry_count,
    max_retry_count,
    topic,
    routing_key,
    last_publish_time,
    published_time,
    fail_reason,
    create_time,
    update_time
FROM biz_outbox_event
WHERE deleted = 0
  AND aggregate_type = 'ORDER'
  AND aggregate_id = 'ORDER202605130001'
ORDER BY create_time ASC)";

/// 根据事件编号查询详情
inline constexpr std::string_view kByNumber = R"(SELECT
    id,
    event_no,
    aggregate_type,
    aggregate_id,
    event_type,
    event_version,
    event_source,
    publish_channel,
    topic,
    routing_key,
    event_payload,
    event_headers,
    publish_status,
    retry_count,
    max_retry_count,
    next_retry_time,
    locked_by,
    lock_until,
    last_publish_time,
    published_time,
    fail_reason,
    trace_id,
    create_time,
    update_time
FROM biz_outbox_event
WHERE event_no = 'OUTBOX202605130001')";

/// 统计事件发布状态
inline constexpr std::string_view kCountByStatus = R"(SELECT
    publish_status,
    COUNT(*) AS total_count
FROM biz_outbox_event
WHERE deleted = 0
  AND event_type = 'ORDER_CREATED'
  AND create_time >= '2026-05-01 00:00:00'
  AND create_time < '2026-06-01 00:00:00'
GROUP BY publish_status
ORDER BY publish_status ASC)";

/// 查询某个主题的失败事件
inline constexpr std::string_view kFailedOfTopic = R"(SELECT
    id,
    event_no,
    event_type,
    aggregate_type,
    aggregate_id,
    topic,
    routing_key,
    retry_count,
    max_retry_count,
    next_retry_time,
    fail_reason,
    update_time
FROM biz_outbox_event
WHERE deleted = 0
  AND topic = 'order.event'
  AND publish_status = 3
ORDER BY update_time DESC
LIMIT 100)";

/// 在业务事务中写入 Outbox 事件
inline constexpr std::array<std::string_view, 4> kOrderTransaction{
    R"(START TRANSACTION)",
    R"(INSERT INTO biz_order (
    id,
    order_no,
    user_id,
    order_amount,
    order_status,
    create_time,
    update_time
) VALUES (
    100000000000000001,
    'ORDER202605130001',
    10001,
    199.00,
    0,
    NOW(),
    NOW()
))",
    R"(INSERT INTO biz_outbox_event (
    id,
    event_no,
    aggregate_type,
    aggregate_id,
    event_type,
    event_version,
    event_source,
    publish_channel,
    topic,
    routing_key,
    event_payload,
    event_headers,
    publish_status,
    retry_count,
    max_retry_count,
    trace_id,
    create_time,
    update_time
) VALUES (
    200000000000000001,
    'OUTBOX_ORDER_CREATED_100000000000000001',
    'ORDER',
    '100000000000000001',
    'ORDER_CREATED',
    1,
    'order-service',
    'MQ',
    'order.event',
    'order.created',
    JSON_OBJECT(
        'orderId', 100000000000000001,
        'orderNo', 'ORDER202605130001',
        'userId', 10001,
        'orderAmount', 199.00,
        'orderStatus', 0,
        'createTime', DATE_FORMAT(NOW(), '%Y-%m-%d %H:%i:%s')
    ),
    JSON_OBJECT(
        'tenantId', 'default',
        'source', 'order-service'
    ),
    0,
    0,
    5,
    'trace-202605130001',
    NOW(),
    NOW()
))",
    R"(COMMIT)",
};

/// 幂等写入 Outbox 事件
inline constexpr std::string_view kInsertOnce = R"(INSERT INTO biz_outbox_event (
    id,
    event_no,
    aggregate_type,
    aggregate_id,
    event_type,
    event_version,
    event_source,
    publish_channel,
    topic,
    routing_key,
    event_payload,
    publish_status,
    retry_count,
    max_retry_count,
    trace_id,
    create_time,
    update_time
) VALUES (
    200000000000000001,
    'OUTBOX_ORDER_CREATED_100000000000000001',
    'ORDER',
    '100000000000000001',
    'ORDER_CREATED',
    1,
    'order-service',
    'MQ',
    'order.event',
    'order.created',
    JSON_OBJECT('orderId', 100000000000000001),
    0,
    0,
    5,
    'trace-202605130001',
    NOW(),
    NOW()
)
ON DUPLICATE KEY UPDATE
    update_time = VALUES(update_time))";

/// 抢占待发布事件
inline constexpr std::string_view kClaim = R"(UPDATE biz_outbox_event
SET
    publish_status = 1,
    locked_by = 'publisher-01',
    lock_until = DATE_ADD(NOW(), INTERVAL 2 MINUTE),
    last_publish_time = NOW(),
    version = version + 1,
    update_time = NOW()
WHERE id = 200000000000000001
  AND deleted = 0
  AND publish_status IN (0, 3)
  AND (next_retry_time IS NULL OR next_retry_time <= NOW()))";

/// 标记发布成功
inline constexpr std::string_view kSucceed = R"(UPDATE biz_outbox_event
SET
    publish_status = 2,
    published_time = NOW(),
    fail_reason = NULL,
    locked_by = NULL,
    lock_until = NULL,
    update_time = NOW()
WHERE id = 200000000000000001
  AND deleted = 0
  AND publish_status = 1
  AND locked_by = 'publisher-01')";

/// 标记发布失败
inline constexpr std::string_view kFail = R"(UPDATE biz_outbox_event
SET
    publish_status = 3,
    retry_count = retry_count + 1,
    next_retry_time = DATE_ADD(NOW(), INTERVAL 5 MINUTE),
    fail_reason = '发送MQ消息超时',
    locked_by = NULL,
    lock_until = NULL,
    update_time = NOW()
WHERE id = 200000000000000001
  AND deleted = 0
  AND publish_status = 1
  AND locked_by = 'publisher-01'
  AND retry_count < max_retry_count)";

/// 恢复锁定超时事件
inline constexpr std::string_view kRecover = R"(UPDATE biz_outbox_event
SET
    publish_status = 3,
    retry_count = retry_count + 1,
    next_retry_time = DATE_ADD(NOW(), INTERVAL 1 MINUTE),
    fail_reason = '发布器锁定超时，等待重新发布',
    locked_by = NULL,
    lock_until = NULL,
    update_time = NOW()
WHERE deleted = 0
  AND publish_status = 1
  AND lock_until <= NOW())";

/// 取消不再需要发布的事件
inline constexpr std::string_view kCancel = R"(UPDATE biz_outbox_event
SET
    publish_status = 4,
    fail_reason = '业务已关闭，取消事件发布',
    locked_by = NULL,
    lock_until = NULL,
    update_time = NOW()
WHERE id = 200000000000000001
  AND deleted = 0
  AND publish_status IN (0, 3))";

}  // namespace waybill::test::seed
