#include "loop.hpp"

#include <stdexcept>

#ifdef WAYBILL_WITH_MYSQL
#include "mysql_client.hpp"
#endif
#include "waybill/backends/builtin.hpp"
#include "workspace.hpp"

namespace waybill::bench {
namespace {

BackendRegistry make_registry() {
  BackendRegistry registry("store");
  register_builtin_backends(registry);
  return registry;
}

}  // namespace

ClaimRequest claim_request(std::size_t limit) {
  ClaimRequest request;
  request.owner = "bench";
  request.limit = limit;
  return request;
}

std::vector<Settlement> delivered(std::span<const Event> events) {
  std::vector<Settlement> outcomes;
  outcomes.reserve(events.size());
  for (const Event& event : events) {
    Settlement outcome;
    outcome.token = token_of(event);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

void OurLoop::append(std::span<const NewEvent> events) {
  for (const AppendResult& result : repository_->append(events))
    if (result.status != AppendStatus::inserted) throw std::runtime_error("the store refused a fresh event");
}

std::size_t OurLoop::relay(std::size_t limit) {
  const ExchangeResult result = repository_->exchange(outcomes_, claim_request(limit));
  for (const SettleStatus status : result.settled)
    if (status != SettleStatus::applied) throw std::runtime_error("the store fenced a valid settlement");
  outcomes_ = delivered(result.claimed.events);
  return outcomes_.size();
}

void OurLoop::finish() {
  if (outcomes_.empty()) return;
  for (const SettleStatus status : repository_->settle(outcomes_))
    if (status != SettleStatus::applied) throw std::runtime_error("the store fenced a valid settlement");
  outcomes_.clear();
}

OurStore::OurStore(Url url) : url_(std::move(url)) {
#ifdef WAYBILL_WITH_MYSQL
  if (bench::is_mysql(url_)) mysql_ = std::make_shared<MysqlDatabases>(url_);
#endif
}

std::string OurStore::url_of(const std::filesystem::path& file) const {
#ifdef WAYBILL_WITH_MYSQL
  if (is_mysql()) return mysql_->url_of(file).to_string();
#endif
  if (!is_sqlite()) return url_.to_string();
  Url url = url_;
  url.path = file.string();
  return url.to_string();
}

void OurStore::create(const std::filesystem::path& file) const {
  OpenContext context;
  context.mode = OpenMode::create;
#ifdef WAYBILL_WITH_MYSQL
  if (is_mysql()) mysql_->create(file);
#endif
  if (is_sqlite() || is_mysql()) static_cast<void>(make_registry().open(url_of(file), context));
}

void OurStore::remove(const std::filesystem::path& file) const noexcept {
#ifdef WAYBILL_WITH_MYSQL
  if (is_mysql()) {
    mysql_->drop(file);
    return;
  }
#endif
  remove_database(file);
}

std::unique_ptr<IEventRepository> OurStore::open(const std::filesystem::path& file) const {
  return make_registry().open(url_of(file));
}

}  // namespace waybill::bench
