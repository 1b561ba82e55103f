#pragma once
// Servers of one test program's own: for what nobody else could bear.

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/temp_dir.hpp"
#include "waybill/backends/mysql.hpp"

namespace waybill::test {

/// A server in a temporary directory, by tools/mysql-server. Killed with the object. Not copyable.
class PrivateServer {
 public:
  /// `kind`: `mariadb` or `mysql9`.
  explicit PrivateServer(std::string kind);
  ~PrivateServer();
  PrivateServer(const PrivateServer&) = delete;
  PrivateServer& operator=(const PrivateServer&) = delete;

  /// Nothing happens when it runs already.
  void start();
  void stop();
  void kill();
  /// Runs a script with the server's own command line client in database `waybill`.
  [[nodiscard]] ProcessResult client(const std::string& script);

  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] bool is_mariadb() const { return kind_ == "mariadb"; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// Of the administrator, without a database.
  [[nodiscard]] const MysqlOptions& administrator() const { return administrator_; }
  /// The administrator's options for a new database; `with_tables`: as `waybill init` leaves it.
  [[nodiscard]] MysqlOptions new_database(bool with_tables = true);

 private:
  ProcessResult script(std::vector<std::string> words, const std::string& input = {});
  void must(std::vector<std::string> words);

  std::string kind_;
  TempDir directory_{"wb", "/tmp"};  // short: the path of a socket has at most 107 bytes
  TempDir scratch_;
  MysqlOptions administrator_;
  int databases_{0};
};

/// The program's one private server of this kind, running.
[[nodiscard]] PrivateServer& private_server(const std::string& kind);

/// A global variable of a server, set back at the end.
class GlobalSetting {
 public:
  GlobalSetting(const PrivateServer& server, std::string name, const std::string& value);
  ~GlobalSetting();
  GlobalSetting(const GlobalSetting&) = delete;
  GlobalSetting& operator=(const GlobalSetting&) = delete;

 private:
  MysqlOptions administrator_;
  std::string name_;
  std::string before_;
};

}  // namespace waybill::test
