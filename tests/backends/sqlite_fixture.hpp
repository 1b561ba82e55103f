#pragma once
// SQLite stores in files of their own, and "another program" on the same file.

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "support/process.hpp"
#include "support/store_calls.hpp"
#include "support/temp_dir.hpp"
#include "waybill/backends/builtin.hpp"
#include "waybill/backends/sqlite.hpp"

namespace waybill::test {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// In memory where the system has such a place: these tests are about files, few of them about the disk below.
[[nodiscard]] fs::path quick_root();

/// For sqlite_schema_sql().
[[nodiscard]] inline SqliteOptions full_schema(bool full_indexes) {
  SqliteOptions options;
  options.full_indexes = full_indexes;
  return options;
}

/// Log lines as a store writes them. Thread-safe.
class LogLines {
 public:
  [[nodiscard]] LogSink sink();
  [[nodiscard]] std::vector<std::string> lines() const;
  /// True when some line has all of these words.
  [[nodiscard]] bool has(std::initializer_list<std::string_view> words) const;

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<std::string> lines;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

/// A folder for one store. Nothing is created before create() or open().
class StoreFile {
 public:
  explicit StoreFile(const fs::path& root = quick_root());

  /// Opens with `options`, which the test may have changed.
  [[nodiscard]] std::unique_ptr<IEventRepository> open(OpenMode mode = OpenMode::read_write) const;
  [[nodiscard]] std::unique_ptr<IEventRepository> create() const { return open(OpenMode::create); }
  /// Another program on the file: a plain connection that knows nothing of waybill, with a busy timeout of 10 s.
  [[nodiscard]] SQLite::Database other_program() const;

  [[nodiscard]] fs::path folder() const { return directory_.path(); }
  [[nodiscard]] fs::path path() const { return options.path; }
  [[nodiscard]] fs::path wal() const { return options.path + "-wal"; }
  [[nodiscard]] std::uintmax_t wal_bytes() const;
  [[nodiscard]] std::uintmax_t bytes_on_disk() const;  ///< file and WAL
  [[nodiscard]] std::string url(const std::string& query = {}) const;

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  LogLines log;
  SqliteOptions options;  ///< normal durability, `clock` and `log`

 private:
  TempDir directory_;
};

/// An event of its own aggregate, or of `aggregate_id`.
[[nodiscard]] NewEvent make_event(const std::string& event_no, const std::string& aggregate_id = {});
/// PREFIX1 to PREFIXcount.
[[nodiscard]] std::vector<NewEvent> make_events(const std::string& prefix, int count);

AppendResult append(IEventRepository& store, const NewEvent& event);
/// Appends make_events() in batches of at most 500.
void append_many(IEventRepository& store, const std::string& prefix, int count);

[[nodiscard]] ClaimRequest ordered_request(std::size_t limit = 100, const std::string& owner = "relay-a");

/// Claims and settles all there is; the numbers in the order of delivery.
Numbers deliver_all(IEventRepository& store);
/// Appends one event and delivers it: the store works.
void require_works(IEventRepository& store, const std::string& event_no);
[[nodiscard]] Status status_of(IEventRepository& store, const std::string& event_no);

/// The first column of every row as text.
[[nodiscard]] std::vector<std::string> rows_of(SQLite::Database& database, const std::string& sql);
[[nodiscard]] std::int64_t number_of(SQLite::Database& database, const std::string& sql);
[[nodiscard]] bool is_sound(SQLite::Database& database);

/// Overwrites a page of event rows of a closed store: it opens, but its rows can't all be read.
void damage_rows(const fs::path& path);

/// The StorageError that `call` throws; a std::logic_error when it throws none.
template <class Call>
[[nodiscard]] StorageError storage_error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const StorageError& error) {
    return error;
  }
  throw std::logic_error("expected a StorageError, but the call came back");
}

template <class Call>
[[nodiscard]] ErrorCode code_of(Call&& call) {
  return storage_error_of(std::forward<Call>(call)).code();
}

/// tests/backends/helper.cpp in a process of its own.
[[nodiscard]] ProcessOptions helper(std::vector<std::string> arguments);

}  // namespace waybill::test

namespace Catch {

template <>
struct StringMaker<waybill::ErrorCode> {
  static std::string convert(waybill::ErrorCode code) { return waybill::to_string(code); }
};

}  // namespace Catch
