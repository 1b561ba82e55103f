#pragma once
// Errors of the environment. Expected outcomes (duplicate, fenced, not found) are return values, never exceptions.

#include <stdexcept>
#include <string>

namespace waybill {

/// What the caller does next about a failed store or transport.
enum class ErrorCode {
  busy,             ///< somebody else holds the lock: the same call may be repeated
  unavailable,      ///< the store can't be reached or the handle is broken: reopen, then repeat
  outcome_unknown,  ///< the commit may or may not have happened: read again before repeating
  full,             ///< disk, quota or bounded buffer is full: nothing was written
  corrupt,          ///< the file or answer is damaged: stop and repair
  schema,           ///< tables are missing, too old or too new: run `waybill init`
  denied,           ///< read-only or no permission
  invalid,          ///< the request itself is wrong: repeating it can't help
};

[[nodiscard]] const char* to_string(ErrorCode code) noexcept;

/// A store failed. The text never holds a password or a payload.
class StorageError : public std::runtime_error {
 public:
  StorageError(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// An event broke a limit of limits.hpp (code `invalid`); nothing of its batch was written.
class InvalidEvent : public StorageError {
 public:
  InvalidEvent(std::string field, const std::string& what)
      : StorageError(ErrorCode::invalid, what), field_(std::move(field)) {}
  [[nodiscard]] const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

/// A transport as a whole failed: its events count no attempt.
class TransportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A URL, option, flag or configuration file is wrong; the text says where and what to write instead.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace waybill
