#pragma once
// A shop: a database with a user's own outbox table, the user's program on it, and waybill beside it.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "support/store_calls.hpp"
#include "waybill/event_repository.hpp"
#include "waybill/registry.hpp"
#include "waybill/table_model.hpp"

namespace waybill::test {

using namespace std::chrono_literals;

using Rows = std::vector<std::string>;

/// One connection of the user's program, which knows nothing of waybill. Failures throw std::runtime_error.
class UserProgram {
 public:
  virtual ~UserProgram() = default;
  /// Each row's columns joined by `|`, NULL as it is written.
  virtual Rows rows(const std::string& sql) = 0;
  void run(std::string_view sql) { (void)rows(std::string(sql)); }
  /// The first row, or "".
  std::string value(const std::string& sql);
};

/// A database with waybill's tables and none of the user's. `clock` begins at the time of day, so that what the user's
/// program writes by NOW() and what waybill sees agree until a test moves it.
class Shop {
 public:
  virtual ~Shop() = default;

  [[nodiscard]] virtual bool is_sqlite() const { return false; }
  [[nodiscard]] virtual bool is_mariadb() const { return false; }
  [[nodiscard]] virtual std::unique_ptr<UserProgram> connect() = 0;
  /// For `--store`.
  [[nodiscard]] virtual std::string url(const std::string& query = {}) const = 0;
  [[nodiscard]] virtual std::unique_ptr<IEventRepository> open(const TableModel& model,
                                                               OpenMode mode = OpenMode::read_write) = 0;
  /// What the stores have logged, line by line.
  std::string log;
  /// `waybill init` and then open().
  [[nodiscard]] std::unique_ptr<IEventRepository> adopt(const TableModel& model) {
    (void)open(model, OpenMode::create);
    return open(model);
  }
  /// The text for this database: the first for SQLite, the other for the servers.
  void run(std::string_view sqlite, std::string_view mysql) { user().run(is_sqlite() ? sqlite : mysql); }
  void run(std::string_view sql) { user().run(sql); }
  [[nodiscard]] std::string value(const std::string& sql) { return user().value(sql); }
  [[nodiscard]] Rows rows(const std::string& sql) { return user().rows(sql); }
  [[nodiscard]] UserProgram& user() {
    if (!user_) user_ = connect();
    return *user_;
  }

  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(SystemClock{}.now());

 protected:
  [[nodiscard]] LogSink log_sink() {
    return [this](LogLevel, std::string_view line) { log.append(line).append("\n"); };
  }

 private:
  std::unique_ptr<UserProgram> user_;
};

struct ShopKind {
  std::string name;  ///< sqlite, mariadb or mysql
  /// `bare`: without waybill's tables.
  std::function<std::unique_ptr<Shop>(bool bare)> open;
};

[[nodiscard]] const std::vector<ShopKind>& shop_kinds();
[[nodiscard]] const std::vector<ShopKind>& server_kinds();

/// Use with TEST_CASE_METHOD: the test runs once per kind of database.
class InShops {
 protected:
  InShops() : InShops(shop_kinds(), false) {}
  InShops(const std::vector<ShopKind>& kinds, bool bare);
  ~InShops();

 private:
  const ShopKind* kind_;

 protected:
  std::unique_ptr<Shop> shop;

 private:
  Catch::ScopedMessage name_;
};

/// The same with empty databases.
class InBareShops : public InShops {
 protected:
  InBareShops() : InShops(shop_kinds(), true) {}
};

class OnServers : public InShops {
 protected:
  OnServers() : InShops(server_kinds(), false) {}
};

[[nodiscard]] ClaimRequest ordered_request(DeadHead dead_head = DeadHead::block, const std::string& owner = "relay-a");
/// Tried again after `wait`.
SettleStatus fail(IEventRepository& store, const Event& claimed, Duration wait, const std::string& reason = "refused");
/// Claims until nothing is due, the relay looking at all rows again; each event succeeds.
Numbers deliver_all(IEventRepository& store, const ClaimRequest& request = claim_request());
/// Claims until something comes: rows of old are looked at only now and then. Nothing by the deadline: empty.
std::vector<Event> claim_soon(IEventRepository& store, const ClaimRequest& request = claim_request());
/// Claims until the condition holds, giving back nothing; false when it does not within the deadline.
[[nodiscard]] bool claims_until(IEventRepository& store, const std::function<bool()>& condition,
                                const ClaimRequest& request = claim_request());

/// What a StorageError says; the test fails when there is none, or of another code.
[[nodiscard]] std::string refusal(ErrorCode code, const std::function<void()>& call);

}  // namespace waybill::test

namespace Catch {

template <>
struct StringMaker<waybill::ErrorCode> {
  static std::string convert(waybill::ErrorCode code) { return waybill::to_string(code); }
};

template <>
struct StringMaker<waybill::SettleStatus> {
  static std::string convert(waybill::SettleStatus status) {
    return status == waybill::SettleStatus::applied ? "applied" : "fenced";
  }
};

}  // namespace Catch
