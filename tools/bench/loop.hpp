#pragma once
// The work both sides do: append events, deliver them to nobody, record the outcome.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "waybill/event.hpp"
#include "waybill/event_repository.hpp"
#include "waybill/url.hpp"

namespace waybill::bench {

class MysqlDatabases;

/// A connection to one store. Closing it is its destructor.
class Loop {
 public:
  virtual ~Loop() = default;
  /// One transaction.
  virtual void append(std::span<const NewEvent> events) = 0;
  /// One round of a relay whose transport takes everything at once; returns how many events were claimed.
  virtual std::size_t relay(std::size_t limit) = 0;
  /// Settles what the last relay() claimed and has not settled yet.
  virtual void finish() = 0;
};

/// The store under test, through its port, in the way Relay does it: settle the last batch and claim the next in one
/// call.
class OurLoop final : public Loop {
 public:
  explicit OurLoop(std::unique_ptr<IEventRepository> repository) : repository_(std::move(repository)) {}
  void append(std::span<const NewEvent> events) override;
  std::size_t relay(std::size_t limit) override;
  void finish() override;
  [[nodiscard]] IEventRepository& repository() noexcept { return *repository_; }

 private:
  std::unique_ptr<IEventRepository> repository_;
  std::vector<Settlement> outcomes_;
};

/// The store URL with another file, or another database.
class OurStore {
 public:
  explicit OurStore(Url url);
  [[nodiscard]] bool is_sqlite() const { return url_.scheme == "sqlite"; }
  /// Each "file" is then a database on its server.
  [[nodiscard]] bool is_mysql() const { return mysql_ != nullptr; }
  [[nodiscard]] std::string url_of(const std::filesystem::path& file) const;
  /// Makes the tables.
  void create(const std::filesystem::path& file) const;
  void remove(const std::filesystem::path& file) const noexcept;
  [[nodiscard]] std::unique_ptr<IEventRepository> open(const std::filesystem::path& file) const;
  [[nodiscard]] const Url& url() const noexcept { return url_; }
  /// Only when is_mysql().
  [[nodiscard]] MysqlDatabases& mysql() const noexcept { return *mysql_; }

 private:
  Url url_;
  std::shared_ptr<MysqlDatabases> mysql_;
};

[[nodiscard]] ClaimRequest claim_request(std::size_t limit);
/// All of them delivered.
[[nodiscard]] std::vector<Settlement> delivered(std::span<const Event> events);

}  // namespace waybill::bench
