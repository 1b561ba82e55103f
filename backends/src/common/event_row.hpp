#pragma once
// A row of kEventColumns as an event, whatever the database: `Row` is a statement on a row, with integer(), text(),
// time() and their optional forms by column.

#include <cstdint>

#include "waybill/event.hpp"

namespace waybill::backends {

template <class Row>
[[nodiscard]] Event read_event(const Row& row) {
  const auto small = [&](int column) { return static_cast<std::int32_t>(row.integer(column)); };
  Event event;
  event.id = row.integer(0);
  event.event_no = row.text(1);
  event.aggregate_type = row.text(2);
  event.aggregate_id = row.text(3);
  event.event_type = row.text(4);
  event.event_version = small(5);
  event.event_source = row.text(6);
  event.publish_channel = row.text(7);
  event.topic = row.optional_text(8);
  event.routing_key = row.optional_text(9);
  event.event_payload = row.text(10);
  event.event_headers = row.optional_text(11);
  event.publish_status = static_cast<Status>(row.integer(12));
  event.retry_count = small(13);
  event.max_retry_count = small(14);
  event.next_retry_time = row.optional_time(15);
  event.locked_by = row.optional_text(16);
  event.lock_until = row.optional_time(17);
  event.last_publish_time = row.optional_time(18);
  event.published_time = row.optional_time(19);
  event.fail_reason = row.optional_text(20);
  event.trace_id = row.optional_text(21);
  event.remark = row.optional_text(22);
  event.version = small(23);
  event.deleted = row.integer(24) != 0;
  event.create_time = row.time(25);
  event.update_time = row.time(26);
  return event;
}

}  // namespace waybill::backends
