#include "contract/store_under_test.hpp"

#include "waybill/backends/memory.hpp"
#ifdef WAYBILL_WITH_SQLITE
#include <cstdlib>
#include <filesystem>

#include "support/temp_dir.hpp"
#include "waybill/backends/sqlite.hpp"
#endif

namespace waybill::test {
namespace {

class MemoryTestDatabase final : public TestDatabase {
 public:
  explicit MemoryTestDatabase(const StoreSettings& settings) {
    MemoryOptions options;
    options.clock = shared_clock();
    options.limits = settings.limits;
    options.max_events = settings.max_events;
    options.drop_oldest = settings.drop_oldest;
    database_ = make_memory_database(options);
  }
  std::unique_ptr<IEventRepository> open() override { return make_memory_repository(database_); }

 private:
  std::shared_ptr<MemoryDatabase> database_;
};

#ifdef WAYBILL_WITH_SQLITE
/// In memory where the system has such a place: hundreds of databases, and none is about power cuts.
std::filesystem::path quick_root() {
  const std::filesystem::path shared_memory = "/dev/shm";
  const bool chosen = std::getenv("TMPDIR") != nullptr;
  return !chosen && std::filesystem::is_directory(shared_memory) ? shared_memory
                                                                 : std::filesystem::temp_directory_path();
}

class SqliteTestDatabase final : public TestDatabase {
 public:
  explicit SqliteTestDatabase(const StoreSettings& settings) {
    options_.path = (directory_.path() / "contract.db").string();
    options_.durability = Durability::normal;  // no power cuts here, and far fewer fsyncs
    options_.clock = shared_clock();
    options_.limits = settings.limits;
    options_.max_events = settings.max_events;
    options_.on_full = settings.drop_oldest ? OnFull::drop_oldest : OnFull::reject;
  }
  std::unique_ptr<IEventRepository> open() override {
    SqliteOptions options = options_;
    if (!created_) options.mode = OpenMode::create;
    auto repository = open_sqlite(options);
    created_ = true;
    return repository;
  }

 private:
  TempDir directory_{"waybill-contract", quick_root()};
  SqliteOptions options_;
  bool created_{false};
};
#endif

template <class Database>
StoreKind kind(std::string name) {
  return {std::move(name), [](const StoreSettings& settings) { return std::make_unique<Database>(settings); }};
}

}  // namespace

const std::vector<StoreKind>& store_kinds() {
  static const std::vector<StoreKind> kinds{
      kind<MemoryTestDatabase>("memory"),
#ifdef WAYBILL_WITH_SQLITE
      kind<SqliteTestDatabase>("sqlite"),
#endif
  };
  return kinds;
}

}  // namespace waybill::test
