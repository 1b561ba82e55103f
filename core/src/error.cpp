#include "waybill/error.hpp"

namespace waybill {

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::outcome_unknown:
      return "outcome_unknown";
    case ErrorCode::full:
      return "full";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::schema:
      return "schema";
    case ErrorCode::denied:
      return "denied";
    case ErrorCode::invalid:
      return "invalid";
  }
  return "unknown";
}

}  // namespace waybill
