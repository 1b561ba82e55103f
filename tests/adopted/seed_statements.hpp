#pragma once
// Statements of the seeds 000_847b01ea0ee57eb3 (消息事件模型) and 004_8fa304cb13325e6c (本地消息表), byte for byte as
// they stand there. They are the specification; nothing here may be adapted.

#include <string_view>

namespace waybill::test::seed {

/// 004, 2.1
inline constexpr std::string_view kLocalMessageTable = R"(CREATE TABLE outbox (
    id BIGINT PRIMARY KEY AUTO_INCREMENT,
    business_id VARCHAR(64) NOT NULL COMMENT '业务ID',
    message_type VARCHAR(64) NOT NULL COMMENT '消息类型',
    payload TEXT NOT NULL COMMENT '消息内容（JSON）',
    status VARCHAR(16) NOT NULL DEFAULT 'PENDING' COMMENT '状态：PENDING/SENT/FAILED',
    retry_count INT DEFAULT 0 COMMENT '重试次数',
    create_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    update_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    INDEX idx_status_create (status, create_time),
    INDEX idx_business_id (business_id)
) COMMENT '本地消息表')";

/// 000, 建模结构
inline constexpr std::string_view kMessageTable = R"(CREATE TABLE biz_message_event (
    id BIGINT UNSIGNED NOT NULL COMMENT '主键ID',
    event_no VARCHAR(64) NOT NULL COMMENT '事件编号',
    event_type VARCHAR(64) NOT NULL COMMENT '事件类型',
    biz_type VARCHAR(64) NOT NULL COMMENT '业务类型',
    biz_id VARCHAR(64) NOT NULL COMMENT '业务ID',
    event_source VARCHAR(64) NOT NULL COMMENT '事件来源',
    event_payload JSON NOT NULL COMMENT '事件内容',
    event_status TINYINT NOT NULL DEFAULT 0 COMMENT '事件状态：0待处理，1处理中，2处理成功，3处理失败，4已取消',
    retry_count INT NOT NULL DEFAULT 0 COMMENT '已重试次数',
    max_retry_count INT NOT NULL DEFAULT 3 COMMENT '最大重试次数',
    next_retry_time DATETIME DEFAULT NULL COMMENT '下次重试时间',
    last_handle_time DATETIME DEFAULT NULL COMMENT '最后处理时间',
    success_time DATETIME DEFAULT NULL COMMENT '处理成功时间',
    fail_reason VARCHAR(1000) DEFAULT NULL COMMENT '失败原因',
    trace_id VARCHAR(128) DEFAULT NULL COMMENT '链路追踪ID',
    remark VARCHAR(500) DEFAULT NULL COMMENT '备注',
    version INT NOT NULL DEFAULT 0 COMMENT '版本号',
    deleted TINYINT NOT NULL DEFAULT 0 COMMENT '删除标识：0未删除，1已删除',
    create_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT '创建时间',
    update_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP COMMENT '更新时间',
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='业务消息事件表')";

/// 000, 创建消息事件
inline constexpr std::string_view kInsertMessage = R"(INSERT INTO biz_message_event (
    id,
    event_no,
    event_type,
    biz_type,
    biz_id,
    event_source,
    event_payload,
    event_status,
    retry_count,
    max_retry_count,
    trace_id,
    create_time,
    update_time
) VALUES (
    100000000000000001,
    'EVT202605130001',
    'ORDER_CREATED',
    'ORDER',
    'ORDER202605130001',
    'order-service',
    JSON_OBJECT(
        'orderId', 'ORDER202605130001',
        'userId', 10001,
        'orderAmount', 199.00,
        'createTime', '2026-05-13 10:00:00'
    ),
    0,
    0,
    3,
    'trace-202605130001',
    NOW(),
    NOW()
))";
inline constexpr std::string_view kInsertMessageAgain = R"(INSERT INTO biz_message_event (
    id,
    event_no,
    event_type,
    biz_type,
    biz_id,
    event_source,
    event_payload,
    event_status,
    retry_count,
    max_retry_count,
    trace_id,
    create_time,
    update_time
) VALUES (
    100000000000000001,
    'EVT202605130001',
    'ORDER_CREATED',
    'ORDER',
    'ORDER202605130001',
    'order-service',
    JSON_OBJECT('orderId', 'ORDER202605130001'),
    0,
    0,
    3,
    'trace-202605130001',
    NOW(),
    NOW()
)
ON DUPLICATE KEY UPDATE
    update_time = VALUES(update_time))";

/// 000, 抢占待处理消息
inline constexpr std::string_view kClaimByHand = R"(UPDATE biz_message_event
SET
    event_status = 1,
    last_handle_time = NOW(),
    version = version + 1,
    update_time = NOW()
WHERE id = 100000000000000001
  AND event_status IN (0, 3)
  AND deleted = 0)";

/// 000, 标记处理成功
inline constexpr std::string_view kSucceedByHand = R"(UPDATE biz_message_event
SET
    event_status = 2,
    success_time = NOW(),
    fail_reason = NULL,
    update_time = NOW()
WHERE id = 100000000000000001
  AND event_status = 1
  AND deleted = 0)";

/// 000, 标记处理失败
inline constexpr std::string_view kFailByHand = R"(UPDATE biz_message_event
SET
    event_status = 3,
    retry_count = retry_count + 1,
    next_retry_time = DATE_ADD(NOW(), INTERVAL 5 MINUTE),
    fail_reason = '调用下游库存服务超时',
    update_time = NOW()
WHERE id = 100000000000000001
  AND event_status = 1
  AND retry_count < max_retry_count
  AND deleted = 0)";

/// 000, 超过最大重试次数后停止重试
inline constexpr std::string_view kCancelByHand = R"(UPDATE biz_message_event
SET
    event_status = 4,
    fail_reason = '超过最大重试次数，自动取消处理',
    update_time = NOW()
WHERE id = 100000000000000001
  AND event_status = 3
  AND retry_count >= max_retry_count
  AND deleted = 0)";

}  // namespace waybill::test::seed
