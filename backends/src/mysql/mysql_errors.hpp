#pragma once
// What an error number of client or server means to a caller.

#include <string>

#include "mysql/mysql_api.hpp"
#include "waybill/error.hpp"

namespace waybill::mysql {

inline constexpr unsigned kDuplicateEntry = 1062;
inline constexpr unsigned kDeadlock = 1213;
inline constexpr unsigned kTlsError = 2026;

/// A StorageError that remembers the number.
class ServerError : public StorageError {
 public:
  ServerError(unsigned number, ErrorCode code, const std::string& what) : StorageError(code, what), number_(number) {}
  [[nodiscard]] unsigned number() const noexcept { return number_; }

 private:
  unsigned number_;
};

[[nodiscard]] ErrorCode error_code_of(unsigned number) noexcept;
/// True when the connection can't be used any more: every client error, and what a server says before it hangs up.
[[nodiscard]] bool breaks_connection(unsigned number) noexcept;
/// True when a COMMIT that ends so may have been carried out: the connection was lost, or killed meanwhile.
[[nodiscard]] bool leaves_outcome_open(unsigned number) noexcept;
[[noreturn]] void throw_error(unsigned number, const std::string& doing, const std::string& message);
[[noreturn]] void throw_last_error(MYSQL* mysql, const std::string& doing);
[[noreturn]] void throw_last_error(MYSQL_STMT* statement, const std::string& doing);

}  // namespace waybill::mysql
