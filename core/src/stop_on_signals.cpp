#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "waybill/relay_runner.hpp"

namespace waybill {

struct StopOnSignals::Impl {
  std::function<void(int)> on_signal;
  sigset_t before{};
  int signals{-1};
  int end{-1};
  std::thread thread;

  void listen() const {
    std::array<pollfd, 2> fds{{{signals, POLLIN, 0}, {end, POLLIN, 0}}};
    while (::poll(fds.data(), fds.size(), -1) >= 0 || errno == EINTR) {
      if (fds[1].revents != 0) return;
      signalfd_siginfo info{};
      if ((fds[0].revents & POLLIN) != 0 && ::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
        on_signal(static_cast<int>(info.ssi_signo));
    }
  }
};

StopOnSignals::StopOnSignals(std::function<void(int)> on_signal) : impl_(std::make_unique<Impl>()) {
  impl_->on_signal = std::move(on_signal);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, &impl_->before);
  impl_->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  impl_->end = eventfd(0, EFD_CLOEXEC);
  impl_->thread = std::thread([impl = impl_.get()] { impl->listen(); });
}

StopOnSignals::~StopOnSignals() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(impl_->end, &one, sizeof one);
  impl_->thread.join();
  ::close(impl_->signals);
  ::close(impl_->end);
  pthread_sigmask(SIG_SETMASK, &impl_->before, nullptr);
}

}  // namespace waybill
