#pragma once
// The user's tables of these tests: the seeds', and one that has a name of its own for everything.

#include <string>

#include "adopted/seed_statements.hpp"
#include "adopted/shop.hpp"

namespace waybill::test {

/// Seed 004's `outbox`; on SQLite as one would write it there.
void create_local_message_table(Shop& shop);
/// Seed 003 has no CREATE TABLE: the columns that its code writes.
void create_domain_event_table(Shop& shop);
/// Seed 000's `biz_message_event`; its collation is MySQL's, MariaDB gets its own.
void create_message_table(Shop& shop);
/// The seed's text; on MariaDB with its collation.
[[nodiscard]] std::string message_table_text(const Shop& shop);

/// Inserts a PENDING row into `outbox` and returns its number, `outbox:ID`.
std::string place_order(Shop& shop, const std::string& business_id = "1", const std::string& payload = "{}");
/// Inserts a row with status 0 into `domain_event_outbox`.
void record_event(Shop& shop, const std::string& event_id, const std::string& aggregate_id = "1");

/// One row: its columns joined by `|`.
[[nodiscard]] std::string order_state(Shop& shop, const std::string& columns, const std::string& event_no);

/// The model as the [table] section of a configuration file.
[[nodiscard]] std::string toml_of(const TableModel& model);

[[nodiscard]] inline const TableModel& model_of(const char* table) { return *known_table(table); }

}  // namespace waybill::test
