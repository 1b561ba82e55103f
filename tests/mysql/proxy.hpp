#pragma once
// A way to a server on which answers get lost.

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace waybill::test {

/// Listens on a free port of 127.0.0.1 and passes on what it gets, until it is told otherwise. Thread-safe.
class Proxy {
 public:
  enum class Fault {
    lose_request,  ///< it does not reach the server; the connection ends
    lose_answer,   ///< the server has answered; the connection ends before the answer is through
    go_silent,     ///< nothing goes through any more, on this and all further connections; they stay open
  };

  explicit Proxy(std::uint16_t server_port);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The fault happens to the next `times` statements that are sent as text and begin so.
  void prepare(Fault fault, const std::string& statement, int times = 1);
  /// `then` runs before the next statement that begins so is passed on; in the proxy's thread.
  void before(const std::string& statement, std::function<void()> then);
  /// What happens after a fault: new connections are closed at once.
  void refuse_after_fault() noexcept { refuse_after_fault_ = true; }
  void let_through() noexcept { refuse_after_fault_ = refusing_ = silent_ = false; }
  /// The greeting of further connections says that the server knows no TLS.
  void hide_tls() noexcept { hide_tls_ = true; }
  void go_silent() noexcept { silent_ = true; }
  /// How often a fault has happened.
  [[nodiscard]] int faults() const noexcept { return faults_; }

 private:
  struct Link {
    int client;
    int server;
    bool greeted{false};
    bool answer_is_lost{false};
    bool ended{false};
  };

  void run();
  void accept_one();
  void from_client(Link& link);
  void from_server(Link& link);
  [[nodiscard]] bool fault_is_due(const std::string& bytes, Fault& fault);
  void happened() noexcept;

  std::uint16_t server_port_;
  std::uint16_t port_{0};
  int listener_{-1};
  int stop_[2]{-1, -1};
  std::list<Link> links_;
  std::mutex mutex_;  // of the next four
  Fault fault_{};
  std::string statement_;
  std::function<void()> before_;
  int times_{0};
  std::atomic<int> faults_{0};
  std::atomic<bool> silent_{false};
  std::atomic<bool> hide_tls_{false};
  std::atomic<bool> refuse_after_fault_{false};
  std::atomic<bool> refusing_{false};
  std::thread thread_;
};

}  // namespace waybill::test
