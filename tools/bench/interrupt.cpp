#include "interrupt.hpp"

#include <csignal>

namespace waybill::bench {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;  // the only thing a signal handler may portably write

void note_signal(int) { g_interrupted = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
  sigset_t ours{};
  sigemptyset(&ours);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &ours, &old_mask_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

bool interrupted() noexcept { return g_interrupted != 0; }

void check_interrupt() {
  if (interrupted()) throw Interrupted();
}

void forget_interrupts() noexcept {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace waybill::bench
