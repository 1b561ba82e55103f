#pragma once
// A MySQL or MariaDB server that one test may kill.

#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace waybill::test {

/// Started by tools/mysql-server and answering when the constructor returns; killed and removed with the object. Not
/// copyable. Each member throws std::runtime_error with what the script says when it fails.
class PrivateServer {
 public:
  /// `mariadb` or `mysql9`.
  explicit PrivateServer(std::string kind);
  ~PrivateServer();
  PrivateServer(const PrivateServer&) = delete;
  PrivateServer& operator=(const PrivateServer&) = delete;

  /// Of an empty database and a user who may do everything. Stays the same over kills.
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  /// SIGKILL; returns when it is gone.
  void kill();
  /// Returns when it has recovered and answers.
  void start();

 private:
  std::string script(const std::vector<std::string>& words);

  TempDir directory_{"wb-my"};  // short: a socket lies in it
  TempDir streams_{"wb-my"};
  std::string kind_;
  std::string url_;
};

}  // namespace waybill::test
