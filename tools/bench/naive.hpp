#pragma once
// The loop one writes by hand in an afternoon, and well: SQLite's C API, prepared statements, WAL, the same table, page
// cache and synchronous as ours. Unique event number, partial index over pending events, full index over aggregates;
// insert, claim (UPDATE … RETURNING) and settle are a transaction each; checkpoints as SQLite does them by default.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "loop.hpp"
#include "sqlite_handle.hpp"

namespace waybill::bench {

struct NaiveOptions {
  bool full_sync{true};
  bool ordered{false};  ///< claim heads of aggregates only, by NOT EXISTS
};

/// What a delivery needs to know.
struct NaiveEvent {
  std::int64_t id{0};
  std::int64_t version{0};
  std::int64_t event_version{0};
  std::int64_t retry_count{0};
  std::int64_t max_retry_count{0};
  std::int64_t create_time{0};
  std::string event_no;
  std::string aggregate_type;
  std::string aggregate_id;
  std::string event_type;
  std::string event_source;
  std::string publish_channel;
  std::string topic;
  std::string routing_key;
  std::string event_payload;
  std::string event_headers;
  std::string trace_id;
};

class NaiveLoop final : public Loop {
 public:
  NaiveLoop(const std::filesystem::path& file, const NaiveOptions& options);
  /// Makes the tables.
  static void create(const std::filesystem::path& file);

  void append(std::span<const NewEvent> events) override;
  std::size_t relay(std::size_t limit) override;
  void finish() override {}

  /// In id order.
  [[nodiscard]] std::vector<NaiveEvent> claim(std::size_t limit);
  void settle(const std::vector<NaiveEvent>& events);

 private:
  void run(const Statement& statement);
  void insert(const NewEvent& event, std::int64_t now);

  Database database_;
  Statement begin_;
  Statement commit_;
  Statement insert_;
  Statement claim_;
  Statement settle_;
};

}  // namespace waybill::bench
