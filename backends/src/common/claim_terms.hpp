#pragma once
// What a claim asks for, beside how much.

#include "waybill/event_repository.hpp"

namespace waybill::backends {

/// A claim's cursors hold as long as its terms stay the same.
class ClaimTerms {
 public:
  /// True when they are not those of the claim before; they are remembered.
  [[nodiscard]] bool changed(const ClaimRequest& request) {
    if (request.routes == routes_ && request.ordering == ordering_ && request.dead_head == dead_head_) return false;
    routes_ = request.routes;
    ordering_ = request.ordering;
    dead_head_ = request.dead_head;
    return true;
  }
  [[nodiscard]] Ordering ordering() const noexcept { return ordering_; }

 private:
  RouteFilter routes_;
  Ordering ordering_{Ordering::none};
  DeadHead dead_head_{DeadHead::block};
};

}  // namespace waybill::backends
