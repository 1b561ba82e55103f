#include "adopted/shop.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

#include <algorithm>
#include <stdexcept>

#include "support/process.hpp"
#include "support/temp_dir.hpp"
#include "waybill/backends/sqlite.hpp"
#ifdef WAYBILL_WITH_MYSQL
#include "support/mysql_server.hpp"
#include "support/plain_client.hpp"
#endif

namespace waybill::test {
namespace {

class SqliteProgram final : public UserProgram {
 public:
  explicit SqliteProgram(const std::string& path)
      : database_(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10'000) {}

  Rows rows(const std::string& sql) override {
    Rows rows;
    const auto add = [](void* all, int count, char** values, char**) {
      std::string row;
      for (int i = 0; i < count; ++i)
        row += (i == 0 ? "" : "|") + std::string(values[i] == nullptr ? "NULL" : values[i]);
      static_cast<Rows*>(all)->push_back(row);
      return 0;
    };
    if (sqlite3_exec(database_.getHandle(), sql.c_str(), add, &rows, nullptr) != SQLITE_OK)
      throw std::runtime_error(sql + ": " + database_.getErrorMsg());
    return rows;
  }

 private:
  SQLite::Database database_;
};

class SqliteShop final : public Shop {
 public:
  explicit SqliteShop(bool bare) {
    options_.path = (directory_.path() / "shop.db").string();
    options_.durability = Durability::normal;
    options_.clock = clock;
    options_.log = log_sink();
    if (bare) return;
    SqliteOptions creating = options_;
    creating.mode = OpenMode::create;
    (void)open_sqlite(creating);
  }
  bool is_sqlite() const override { return true; }
  std::unique_ptr<UserProgram> connect() override { return std::make_unique<SqliteProgram>(options_.path); }
  std::string url(const std::string& query) const override {
    return "sqlite:" + options_.path + (query.empty() ? "" : "?" + query);
  }
  std::unique_ptr<IEventRepository> open(const TableModel& model, OpenMode mode) override {
    SqliteOptions options = options_;
    options.table = model;
    options.mode = mode;
    return open_sqlite(options);
  }

 private:
  TempDir directory_{"waybill-adopted"};
  SqliteOptions options_;
};

#ifdef WAYBILL_WITH_MYSQL
class MysqlProgram final : public UserProgram {
 public:
  explicit MysqlProgram(const MysqlOptions& options) : client_(options) {}

  Rows rows(const std::string& sql) override {
    if (mysql_real_query(client_.handle(), sql.data(), static_cast<unsigned long>(sql.size())) != 0)
      throw std::runtime_error(sql + ": " + mysql_error(client_.handle()));
    Rows rows;
    MYSQL_RES* result = mysql_store_result(client_.handle());
    if (result == nullptr) return rows;
    while (const MYSQL_ROW row = mysql_fetch_row(result)) {
      std::string text;
      for (unsigned i = 0; i < mysql_num_fields(result); ++i)
        text += (i == 0 ? "" : "|") +
                (row[i] == nullptr ? std::string("NULL") : std::string(row[i], mysql_fetch_lengths(result)[i]));
      rows.push_back(text);
    }
    mysql_free_result(result);
    return rows;
  }

 private:
  PlainClient client_;
};

/// Beside the slot's own database, whose lock it has: the tables of other tests' making are not met there.
class MysqlShop final : public Shop {
 public:
  MysqlShop(const MysqlServer& server, bool bare) : mariadb_(server.name == "mariadb"), slot_(server) {
    options_ = slot_.options();
    options_.clock = clock;
    options_.log = log_sink();
    const std::string name = options_.database + (bare ? "_bare" : "_shop");
    if (bare) slot_.run("DROP DATABASE IF EXISTS " + name);
    slot_.run("CREATE DATABASE IF NOT EXISTS " + name + " CHARACTER SET utf8mb4");
    options_.database = name;
    if (!bare) clear();
  }
  ~MysqlShop() override = default;
  bool is_mariadb() const override { return mariadb_; }
  std::unique_ptr<UserProgram> connect() override { return std::make_unique<MysqlProgram>(options_); }
  std::string url(const std::string& query) const override {
    Url url = Url::parse(slot_.url());
    url.path = "/" + options_.database;
    return url.to_string() + (query.empty() ? "" : "?" + query);
  }
  std::unique_ptr<IEventRepository> open(const TableModel& model, OpenMode mode) override {
    MysqlOptions options = options_;
    options.table = model;
    options.mode = mode;
    return open_mysql(options);
  }

 private:
  void clear() {
    MysqlOptions creating = options_;
    creating.mode = OpenMode::create;
    (void)open_mysql(creating);
    for (const std::string& table :
         rows("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name NOT IN "
              "('biz_outbox_event', 'biz_outbox_event_archive', 'biz_event_inbox', 'biz_message_event', "
              "'waybill_message_delivery', 'waybill_counter', 'waybill_note', 'waybill_schema')"))
      run("DROP TABLE `" + table + "`");
    for (const char* table : {"biz_outbox_event", "biz_message_event", "waybill_message_delivery", "waybill_counter"})
      run(std::string("DELETE FROM ") + table);
    run("DELETE FROM waybill_note WHERE name <> 'table of waybill_message_delivery'");
  }

  bool mariadb_;
  MysqlDatabase slot_;
  MysqlOptions options_;
};
#endif

const ShopKind& each_of(const std::vector<ShopKind>& kinds) {
  const std::size_t count = kinds.size();  // a variable of its own: GENERATE keeps what it is given by reference
  return kinds[GENERATE_COPY(range(std::size_t{0}, count))];
}

constexpr std::chrono::seconds kDeadline{20};

}  // namespace

std::string UserProgram::value(const std::string& sql) {
  const Rows found = rows(sql);
  return found.empty() ? "" : found.front();
}

const std::vector<ShopKind>& shop_kinds() {
  static const std::vector<ShopKind> kinds = [] {
    std::vector<ShopKind> all{{"sqlite", [](bool bare) { return std::make_unique<SqliteShop>(bare); }}};
    all.insert(all.end(), server_kinds().begin(), server_kinds().end());
    return all;
  }();
  return kinds;
}

const std::vector<ShopKind>& server_kinds() {
  static const std::vector<ShopKind> kinds = [] {
    std::vector<ShopKind> all;
#ifdef WAYBILL_WITH_MYSQL
    for (const MysqlServer& server : mysql_servers())
      all.push_back({server.name, [&server](bool bare) { return std::make_unique<MysqlShop>(server, bare); }});
#endif
    return all;
  }();
  return kinds;
}

InShops::InShops(const std::vector<ShopKind>& kinds, bool bare)
    : kind_(&each_of(kinds)),
      shop(kind_->open(bare)),
      name_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info) << "shop: " << kind_->name) {
}

InShops::~InShops() = default;

ClaimRequest ordered_request(DeadHead dead_head, const std::string& owner) {
  ClaimRequest request = claim_request(100, owner);
  request.ordering = Ordering::aggregate;
  request.dead_head = dead_head;
  return request;
}

SettleStatus fail(IEventRepository& store, const Event& claimed, Duration wait, const std::string& reason) {
  Settlement settlement = settlement_of(claimed, Command::fail);
  settlement.reason = reason;
  settlement.next_retry_time = store.now() + wait;
  return settle(store, settlement);
}

Numbers deliver_all(IEventRepository& store, const ClaimRequest& request) {
  Numbers numbers;
  // Twice nothing, a search of all rows in between.
  for (int empty = 0; empty < 2;) {
    const ClaimResult claimed = store.claim(request);
    for (const Event& event : claimed.events) {
      numbers.push_back(event.event_no);
      REQUIRE(succeed(store, event) == SettleStatus::applied);
    }
    if (!claimed.events.empty() || claimed.more) continue;
    ++empty;
    EventFilter nothing;
    nothing.event_no = "no such number";
    (void)store.requeue(nothing, 1);  // looks at all rows, as what is done by hand does
  }
  return numbers;
}

std::vector<Event> claim_soon(IEventRepository& store, const ClaimRequest& request) {
  std::vector<Event> events;
  (void)eventually(
      [&] {
        events = store.claim(request).events;
        return !events.empty();
      },
      kDeadline);
  return events;
}

bool claims_until(IEventRepository& store, const std::function<bool()>& condition, const ClaimRequest& request) {
  return eventually(
      [&] {
        CHECK(numbers_of(store.claim(request).events) == Numbers{});
        return condition();
      },
      kDeadline);
}

std::string refusal(ErrorCode code, const std::function<void()>& call) {
  try {
    call();
  } catch (const StorageError& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  FAIL("expected a StorageError, but the call came back");
  return {};
}

}  // namespace waybill::test
