#include "backends/sqlite_fixture.hpp"

#include <algorithm>
#include <cstdlib>

namespace waybill::test {
namespace {

constexpr int kBatch = 500;

std::uintmax_t size_or_zero(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

fs::path quick_root() {
  const fs::path shared_memory = "/dev/shm";
  const bool chosen = std::getenv("TMPDIR") != nullptr;
  return !chosen && fs::is_directory(shared_memory) ? shared_memory : fs::temp_directory_path();
}

LogSink LogLines::sink() {
  return [shared = shared_](LogLevel, std::string_view line) {
    const std::lock_guard lock(shared->mutex);
    shared->lines.emplace_back(line);
  };
}

std::vector<std::string> LogLines::lines() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->lines;
}

bool LogLines::has(std::initializer_list<std::string_view> words) const {
  const auto all = lines();
  return std::any_of(all.begin(), all.end(), [&](const std::string& line) {
    return std::all_of(words.begin(), words.end(),
                       [&](std::string_view word) { return line.find(word) != std::string::npos; });
  });
}

StoreFile::StoreFile(const fs::path& root) : directory_("waybill-sqlite", root) {
  options.path = (directory_.path() / "store.db").string();
  options.durability = Durability::normal;
  options.clock = clock;
  options.log = log.sink();
}

std::unique_ptr<IEventRepository> StoreFile::open(OpenMode mode) const {
  SqliteOptions wanted = options;
  wanted.mode = mode;
  return open_sqlite(wanted);
}

SQLite::Database StoreFile::other_program() const {
  return SQLite::Database(options.path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10'000);
}

std::uintmax_t StoreFile::wal_bytes() const { return size_or_zero(wal()); }

std::uintmax_t StoreFile::bytes_on_disk() const { return size_or_zero(path()) + wal_bytes(); }

std::string StoreFile::url(const std::string& query) const {
  return "sqlite:" + options.path + (query.empty() ? "" : "?" + query);
}

NewEvent make_event(const std::string& event_no, const std::string& aggregate_id) {
  NewEvent event;
  event.event_no = event_no;
  event.aggregate_type = "ORDER";
  event.aggregate_id = aggregate_id.empty() ? "id-" + event_no : aggregate_id;
  event.event_type = "ORDER_CREATED";
  event.topic = "order.event";
  event.event_payload = R"({"amount":199})";
  return event;
}

std::vector<NewEvent> make_events(const std::string& prefix, int count) {
  std::vector<NewEvent> events;
  for (int i = 1; i <= count; ++i) events.push_back(make_event(prefix + std::to_string(i)));
  return events;
}

AppendResult append(IEventRepository& store, const NewEvent& event) { return store.append({&event, 1}).front(); }

void append_many(IEventRepository& store, const std::string& prefix, int count) {
  const std::vector<NewEvent> events = make_events(prefix, count);
  const std::span<const NewEvent> all(events);
  for (std::size_t at = 0; at < all.size(); at += kBatch)
    (void)store.append(all.subspan(at, std::min<std::size_t>(kBatch, all.size() - at)));
}

ClaimRequest ordered_request(std::size_t limit, const std::string& owner) {
  ClaimRequest request = claim_request(limit, owner);
  request.ordering = Ordering::aggregate;
  return request;
}

Numbers deliver_all(IEventRepository& store) {
  Numbers delivered;
  for (;;) {
    const ClaimResult claimed = store.claim(claim_request());
    std::vector<Settlement> settlements;
    for (const Event& event : claimed.events) {
      delivered.push_back(event.event_no);
      settlements.push_back(settlement_of(event, Command::succeed));
    }
    if (settlements.empty() && !claimed.more) return delivered;
    (void)store.settle(settlements);
  }
}

void require_works(IEventRepository& store, const std::string& event_no) {
  REQUIRE(append(store, make_event(event_no)).status == AppendStatus::inserted);
  const Numbers delivered = deliver_all(store);
  REQUIRE(std::count(delivered.begin(), delivered.end(), event_no) == 1);
  REQUIRE(status_of(store, event_no) == Status::succeeded);
}

Status status_of(IEventRepository& store, const std::string& event_no) {
  const std::optional<Event> event = store.find(event_no);
  INFO("looking for " << event_no);
  REQUIRE(event.has_value());
  return event->publish_status;
}

std::vector<std::string> rows_of(SQLite::Database& database, const std::string& sql) {
  SQLite::Statement query(database, sql);
  std::vector<std::string> rows;
  while (query.executeStep()) rows.push_back(query.getColumn(0).getString());
  return rows;
}

std::int64_t number_of(SQLite::Database& database, const std::string& sql) {
  return database.execAndGet(sql).getInt64();
}

bool is_sound(SQLite::Database& database) { return database.execAndGet("PRAGMA integrity_check").getString() == "ok"; }

void damage_rows(const fs::path& path) {
  constexpr std::size_t kPage = 4096;
  std::string bytes = read_file(path);
  const std::size_t payload = bytes.rfind(R"({"amount":199})");
  REQUIRE(payload != std::string::npos);
  const std::size_t page = payload / kPage * kPage;
  bytes.replace(page, 16, 16, '\xff');  // its header
  write_file(path, bytes);
}

ProcessOptions helper(std::vector<std::string> arguments) {
  ProcessOptions options;
  options.program = WAYBILL_BACKENDS_HELPER;
  options.arguments = std::move(arguments);
  return options;
}

}  // namespace waybill::test
