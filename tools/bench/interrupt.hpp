#pragma once
// SIGINT and SIGTERM end a measurement by an exception, so that the temporary files go away.

#include <csignal>
#include <exception>

namespace waybill::bench {

class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// While it lives, the first SIGINT or SIGTERM only makes check() throw; a second one ends the process. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
  sigset_t old_mask_{};
};

[[nodiscard]] bool interrupted() noexcept;
/// Throws Interrupted after a signal. Call it between the steps of anything that takes longer than a second.
void check_interrupt();
/// In a forked child: signals end it as usual.
void forget_interrupts() noexcept;

}  // namespace waybill::bench
