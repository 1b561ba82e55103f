#pragma once
// A repository that hands every call on, for tests that change one of them.

#include <memory>

#include "waybill/event_repository.hpp"

namespace waybill::test {

class ForwardingRepository : public IEventRepository {
 public:
  explicit ForwardingRepository(std::unique_ptr<IEventRepository> inner) : inner_(std::move(inner)) {}

  std::vector<AppendResult> append(std::span<const NewEvent> events) override { return inner_->append(events); }
  ClaimResult claim(const ClaimRequest& request) override { return inner_->claim(request); }
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override {
    return inner_->settle(settlements);
  }
  ExchangeResult exchange(std::span<const Settlement> settlements, const ClaimRequest& request) override {
    return inner_->exchange(settlements, request);
  }
  std::vector<SettleStatus> extend(std::span<const Token> tokens, Duration lease) override {
    return inner_->extend(tokens, lease);
  }
  std::vector<ExpiredLease> expired(std::size_t limit) override { return inner_->expired(limit); }
  Timestamp now() override { return inner_->now(); }
  bool wait_for_work(Duration timeout) override { return inner_->wait_for_work(timeout); }
  void wake() noexcept override { inner_->wake(); }
  std::optional<Event> find(std::string_view event_no) override { return inner_->find(event_no); }
  std::vector<Event> query(const EventFilter& filter, const Page& page) override { return inner_->query(filter, page); }
  Stats stats(const StatsRequest& request) override { return inner_->stats(request); }
  std::vector<DailyCount> daily_stats(const DailyStatsRequest& request) override {
    return inner_->daily_stats(request);
  }
  Backlog backlog() override { return inner_->backlog(); }
  std::vector<ChannelBacklog> backlog_by_channel() override { return inner_->backlog_by_channel(); }
  std::vector<Finding> diagnose() override { return inner_->diagnose(); }
  std::optional<std::string> note(std::string_view name) override { return inner_->note(name); }
  void set_note(std::string_view name, std::string_view value) override { inner_->set_note(name, value); }
  std::size_t requeue(const EventFilter& filter, std::size_t limit) override { return inner_->requeue(filter, limit); }
  std::size_t cancel(const EventFilter& filter, std::string_view reason, std::size_t limit) override {
    return inner_->cancel(filter, reason, limit);
  }
  std::size_t archive(Timestamp before, std::size_t limit) override { return inner_->archive(before, limit); }
  std::size_t purge(Timestamp before, std::size_t limit) override { return inner_->purge(before, limit); }
  RollupResult rollup(std::size_t limit) override { return inner_->rollup(limit); }

 protected:
  std::unique_ptr<IEventRepository> inner_;
};

}  // namespace waybill::test
