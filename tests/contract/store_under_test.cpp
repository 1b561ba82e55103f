#include "contract/store_under_test.hpp"

#include <algorithm>

#include "contract/shop_table.hpp"
#include "waybill/backends/memory.hpp"
#ifdef WAYBILL_WITH_SQLITE
#include <SQLiteCpp/Database.h>

#include <cstdlib>
#include <filesystem>

#include "support/temp_dir.hpp"
#include "waybill/backends/sqlite.hpp"
#endif
#ifdef WAYBILL_WITH_MYSQL
#include "support/mysql_server.hpp"
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

class SqliteTestDatabase : public TestDatabase {
 public:
  explicit SqliteTestDatabase(const StoreSettings& settings) {
    options_.path = (directory_.path() / "contract.db").string();
    options_.durability = Durability::normal;  // no power cuts here, and far fewer fsyncs
    options_.clock = shared_clock();
    options_.limits = settings.limits;
    options_.max_events = settings.max_events;
    options_.on_full = settings.drop_oldest ? OnFull::drop_oldest : OnFull::reject;
  }
  SqliteTestDatabase(const StoreSettings& settings, const char* table_sql, TableModel model)
      : SqliteTestDatabase(settings) {
    SQLite::Database(options_.path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(table_sql);
    options_.table = std::move(model);
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

class SqliteTableDatabase final : public SqliteTestDatabase {
 public:
  explicit SqliteTableDatabase(const StoreSettings& settings)
      : SqliteTestDatabase(settings, kSqliteShopTable, shop_table()) {}
};
#endif

#ifdef WAYBILL_WITH_MYSQL
class MysqlTestDatabase final : public TestDatabase {
 public:
  MysqlTestDatabase(const MysqlServer& server, const StoreSettings& settings, bool own_table) : database_(server) {
    options_ = database_.options();
    options_.clock = shared_clock();
    options_.limits = settings.limits;
    if (!own_table) return;
    database_.run(kMysqlShopTable);
    options_.table = shop_table();
    MysqlOptions creating = options_;
    creating.mode = OpenMode::create;
    (void)open_mysql(creating);
    for (const char* table : {"shop_event", "waybill_delivery"}) database_.run(std::string("DELETE FROM ") + table);
  }
  std::unique_ptr<IEventRepository> open() override { return open_mysql(options_); }

 private:
  MysqlDatabase database_;
  MysqlOptions options_;
};
#endif

template <class Database>
StoreKind kind(std::string name) {
  return {std::move(name), [](const StoreSettings& settings) { return std::make_unique<Database>(settings); }};
}

std::vector<StoreKind> those_that(bool StoreKind::*can) {
  std::vector<StoreKind> some = store_kinds();
  some.erase(std::remove_if(some.begin(), some.end(), [&](const StoreKind& one) { return !(one.*can); }), some.end());
  return some;
}

}  // namespace

const std::vector<StoreKind>& store_kinds() {
  static const std::vector<StoreKind> kinds = [] {
    std::vector<StoreKind> all{kind<MemoryTestDatabase>("memory")};
#ifdef WAYBILL_WITH_SQLITE
    all.push_back(kind<SqliteTestDatabase>("sqlite"));
    StoreKind table = kind<SqliteTableDatabase>("a table in sqlite");
    table.has_archive = table.can_be_bounded = false;
    all.push_back(std::move(table));
#endif
#ifdef WAYBILL_WITH_MYSQL
    for (const MysqlServer& server : mysql_servers())
      for (const bool own_table : {false, true})
        all.push_back({(own_table ? "a table in " : "") + server.name,
                       [&server, own_table](const StoreSettings& settings) {
                         return std::make_unique<MysqlTestDatabase>(server, settings, own_table);
                       },
                       !own_table, false, server.name != "mysql", own_table ? 15 : 30});
#endif
    return all;
  }();
  return kinds;
}

const std::vector<StoreKind>& archiving_kinds() {
  static const std::vector<StoreKind> kinds = those_that(&StoreKind::has_archive);
  return kinds;
}

const std::vector<StoreKind>& bounded_kinds() {
  static const std::vector<StoreKind> kinds = those_that(&StoreKind::can_be_bounded);
  return kinds;
}

}  // namespace waybill::test
