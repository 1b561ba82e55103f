#include "waybill/appender.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace waybill {
namespace {

struct Waiting {
  NewEvent event;
  std::promise<AppendResult> promise;
};

}  // namespace

struct Appender::Impl {
  std::unique_ptr<IEventRepository> repository;
  AppenderOptions options;
  std::mutex mutex;
  std::condition_variable filled;
  std::condition_variable drained;
  std::deque<Waiting> queue;
  bool ending{false};
  std::thread writer;

  [[nodiscard]] std::vector<Waiting> take_batch();
  void write(std::vector<Waiting> batch);
  void run();
};

// Empty: the end.
std::vector<Waiting> Appender::Impl::take_batch() {
  std::unique_lock lock(mutex);
  filled.wait(lock, [&] { return ending || !queue.empty(); });
  if (options.linger > Duration{0} && !ending)
    filled.wait_for(lock, options.linger, [&] { return ending || queue.size() >= options.max_batch; });
  std::vector<Waiting> batch;
  while (!queue.empty() && batch.size() < options.max_batch) {
    batch.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  drained.notify_all();
  return batch;
}

void Appender::Impl::write(std::vector<Waiting> batch) {
  std::vector<NewEvent> events;
  events.reserve(batch.size());
  for (Waiting& waiting : batch) events.push_back(std::move(waiting.event));
  try {
    std::vector<AppendResult> results = repository->append(events);
    for (std::size_t at = 0; at < batch.size(); ++at) batch[at].promise.set_value(std::move(results[at]));
  } catch (...) {
    for (Waiting& waiting : batch) waiting.promise.set_exception(std::current_exception());
  }
}

void Appender::Impl::run() {
  for (;;) {
    std::vector<Waiting> batch = take_batch();
    if (batch.empty()) return;
    write(std::move(batch));
  }
}

Appender::Appender(std::unique_ptr<IEventRepository> repository, AppenderOptions options)
    : impl_(std::make_unique<Impl>()) {
  impl_->repository = std::move(repository);
  impl_->options = options;
  impl_->writer = std::thread([impl = impl_.get()] { impl->run(); });
}

Appender::~Appender() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->ending = true;
  }
  impl_->filled.notify_all();
  impl_->writer.join();
}

AppendResult Appender::append(NewEvent event) { return submit(std::move(event)).get(); }

std::future<AppendResult> Appender::submit(NewEvent event) {
  require_valid(std::span(&event, 1), impl_->options.limits);
  std::unique_lock lock(impl_->mutex);
  impl_->drained.wait(lock, [&] { return impl_->queue.size() < impl_->options.max_queue; });
  impl_->queue.push_back({std::move(event), {}});
  std::future<AppendResult> result = impl_->queue.back().promise.get_future();
  lock.unlock();
  impl_->filled.notify_one();
  return result;
}

}  // namespace waybill
