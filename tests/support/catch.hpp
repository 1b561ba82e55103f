#pragma once
// Catch2 of either kind (Debian 12 has v2, newer systems v3), and how our types look in its messages.

#define CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER
#define CATCH_CONFIG_ENABLE_PAIR_STRINGMAKER
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include "waybill/event.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill/time.hpp"

namespace Catch {

template <>
struct StringMaker<waybill::Timestamp> {
  static std::string convert(waybill::Timestamp time) { return waybill::format_time(time); }
};

template <>
struct StringMaker<waybill::Duration> {
  static std::string convert(waybill::Duration duration) { return waybill::format_duration(duration); }
};

template <>
struct StringMaker<waybill::Status> {
  static std::string convert(waybill::Status status) { return std::string{waybill::to_string(status)}; }
};

template <>
struct StringMaker<waybill::Command> {
  static std::string convert(waybill::Command command) { return std::string{waybill::to_string(command)}; }
};

}  // namespace Catch
