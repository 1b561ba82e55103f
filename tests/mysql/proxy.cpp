#include "mysql/proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace waybill::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw std::runtime_error("proxy: no socket");
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

std::string receive(int fd) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
  return count <= 0 ? std::string{} : std::string(buffer.data(), static_cast<std::size_t>(count));
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// A greeting: four bytes of head, 10, the version up to a zero, 13 bytes, then the capabilities, of which 0x0800 is
/// TLS.
void remove_tls(std::string& greeting) {
  constexpr std::size_t kVersion = 5;
  constexpr std::size_t kToSecondByte = 15;
  constexpr unsigned kTls = 0x08;
  const std::size_t at = greeting.find('\0', kVersion) + kToSecondByte;
  if (at < greeting.size()) greeting[at] = static_cast<char>(static_cast<unsigned char>(greeting[at]) & ~kTls);
}

}  // namespace

Proxy::Proxy(std::uint16_t server_port) : server_port_(server_port), listener_(new_socket()) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0 || ::pipe(stop_) != 0)
    throw std::runtime_error("proxy: can't listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  ::close(stop_[1]);
  thread_.join();
  for (const Link& link : links_) {
    ::close(link.client);
    ::close(link.server);
  }
  ::close(stop_[0]);
  ::close(listener_);
}

void Proxy::prepare(Fault fault, const std::string& statement, int times) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  statement_ = statement;
  times_ = times;
}

void Proxy::before(const std::string& statement, std::function<void()> then) {
  const std::lock_guard lock(mutex_);
  statement_ = statement;
  before_ = std::move(then);
}

void Proxy::run() {
  for (;;) {
    std::vector<pollfd> watched{{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Link& link : links_) {
      watched.push_back({silent_ ? -1 : link.client, POLLIN, 0});
      watched.push_back({silent_ ? -1 : link.server, POLLIN, 0});
    }
    constexpr int kLookAgain = 20;  // ms: silence may begin meanwhile
    if (::poll(watched.data(), watched.size(), kLookAgain) <= 0) continue;
    if (watched[0].revents != 0) return;
    std::size_t at = 2;
    for (Link& link : links_) {
      if (watched[at].revents != 0) from_client(link);
      if (watched[at + 1].revents != 0 && !link.ended && !silent_) from_server(link);
      at += 2;
    }
    if (watched[1].revents != 0) accept_one();
    links_.remove_if([](const Link& link) {
      if (!link.ended) return false;
      ::close(link.client);
      ::close(link.server);
      return true;
    });
  }
}

void Proxy::accept_one() {
  const int client = ::accept(listener_, nullptr, nullptr);
  if (client < 0) return;
  const int server = new_socket();
  const sockaddr_in address = loopback(server_port_);
  if (refusing_ || ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(client);
    ::close(server);
    return;
  }
  const int on = 1;
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  links_.push_back({client, server});
}

void Proxy::from_client(Link& link) {
  const std::string bytes = receive(link.client);
  Fault fault{};
  if (bytes.empty()) {
    link.ended = true;
  } else if (!fault_is_due(bytes, fault)) {
    link.ended = !send_all(link.server, bytes);
  } else if (fault == Fault::lose_request) {
    link.ended = true;
    happened();
  } else if (fault == Fault::lose_answer) {
    link.answer_is_lost = true;
    link.ended = !send_all(link.server, bytes);
  } else {
    silent_ = true;
    happened();
  }
}

void Proxy::from_server(Link& link) {
  std::string bytes = receive(link.server);
  if (!std::exchange(link.greeted, true) && hide_tls_) remove_tls(bytes);
  if (link.answer_is_lost) {
    link.ended = true;
    happened();
  } else {
    link.ended = bytes.empty() || !send_all(link.client, bytes);
  }
}

/// COM_QUERY: three bytes of length, a number, 3, the text.
bool Proxy::fault_is_due(const std::string& bytes, Fault& fault) {
  constexpr std::size_t kHead = 4;
  constexpr char kQuery = 3;
  const std::lock_guard lock(mutex_);
  if (bytes.size() <= kHead || bytes[kHead] != kQuery) return false;
  if (bytes.compare(kHead + 1, statement_.size(), statement_) != 0) return false;
  if (before_) std::exchange(before_, nullptr)();
  if (times_ == 0) return false;
  --times_;
  fault = fault_;
  return true;
}

void Proxy::happened() noexcept {
  if (refuse_after_fault_) refusing_ = true;
  ++faults_;
}

}  // namespace waybill::test
