// The bounded buffer of a device.

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

class Buffer : public Contract {
 protected:
  Buffer() : Contract(bounded_kinds()) {}

  void bounded(std::size_t max_events, bool drop_oldest) {
    StoreSettings settings;
    settings.max_events = max_events;
    settings.drop_oldest = drop_oldest;
    restart(settings);
  }

  std::vector<AppendResult> append_batch(std::initializer_list<const char*> event_nos) {
    std::vector<NewEvent> events;
    for (const char* event_no : event_nos) events.push_back(make_event(event_no));
    return store->append(events);
  }

  bool is_full(std::initializer_list<const char*> event_nos) {
    try {
      (void)append_batch(event_nos);
    } catch (const StorageError& error) {
      CHECK(error.code() == ErrorCode::full);
      return true;
    }
    return false;
  }

  Numbers all() { return numbers_of(store->query({}, {})); }
};

TEST_CASE_METHOD(Buffer, "a full buffer refuses the whole batch", "[buffer]") {
  bounded(3, false);
  append({"E1", "E2"});
  CHECK(is_full({"E3", "E4"}));
  CHECK(all() == Numbers{"E1", "E2"});
  CHECK_FALSE(store->find("E3").has_value());
  append({"E3"});
  CHECK(is_full({"E4"}));
  reopen();
  CHECK(is_full({"E4"}));
  CHECK(store->stats({}).dropped == 0);
}

TEST_CASE_METHOD(Buffer, "a duplicate finds room in a full buffer", "[buffer]") {
  bounded(2, false);
  append({"E1", "E2"});
  CHECK(append(make_event("E1")).status == AppendStatus::duplicate);
}

TEST_CASE_METHOD(Buffer, "only unsettled events fill the buffer", "[buffer]") {
  bounded(2, false);
  add_in(Status::succeeded, "E1");
  add_in(Status::cancelled, "E2");
  add_in(Status::failed, "E3");
  add_in(Status::in_progress, "E4");
  CHECK(is_full({"E5"}));
  REQUIRE(succeed(get("E4")) == SettleStatus::applied);
  append({"E5"});
}

TEST_CASE_METHOD(Buffer, "dead events fill the buffer until somebody ends them", "[buffer]") {
  bounded(1, false);
  add_dead("E1");
  CHECK(is_full({"E2"}));
  REQUIRE(store->cancel({}, "make room", 1) == 1);
  append({"E2"});
}

TEST_CASE_METHOD(Buffer, "the oldest are dropped, and counted", "[buffer]") {
  bounded(3, true);
  append({"E1", "E2", "E3"});
  append({"E4", "E5"});
  CHECK(all() == Numbers{"E3", "E4", "E5"});
  CHECK(store->stats({}).dropped == 2);
  CHECK_FALSE(store->find("E1").has_value());
  reopen();
  CHECK(store->stats({}).dropped == 2);
  append({"E6"});
  CHECK(store->stats({}).dropped == 3);
}

TEST_CASE_METHOD(Buffer, "what was dropped may come again", "[buffer]") {
  bounded(1, true);
  append({"E1"});
  append({"E2"});
  CHECK(append(make_event("E1")).status == AppendStatus::inserted);
  CHECK(all() == Numbers{"E1"});
}

TEST_CASE_METHOD(Buffer, "dropping passes events in progress and finished ones", "[buffer]") {
  bounded(2, true);
  add_in(Status::succeeded, "E1");
  add_in(Status::in_progress, "E2");
  append({"E3"});
  append({"E4"});
  CHECK(all() == Numbers{"E1", "E2", "E4"});
  CHECK(store->stats({}).dropped == 1);
}

TEST_CASE_METHOD(Buffer, "failed events are dropped as well", "[buffer]") {
  bounded(2, true);
  add_dead("E1");
  add_in(Status::failed, "E2");
  append({"E3", "E4"});
  CHECK(all() == Numbers{"E3", "E4"});
  CHECK(store->stats({}).dropped == 2);
}

TEST_CASE_METHOD(Buffer, "a batch larger than the buffer keeps its newest", "[buffer]") {
  bounded(2, true);
  append({"E1"});
  CHECK(append_batch({"E2", "E3", "E4", "E5"}).size() == 4);
  CHECK(all() == Numbers{"E4", "E5"});
  CHECK(store->stats({}).dropped == 3);
}

TEST_CASE_METHOD(Buffer, "a dropped event's token is worth nothing", "[buffer][fencing]") {
  bounded(1, true);
  const Event claimed = add_in(Status::in_progress, "E1");
  release(claimed);
  append({"E2"});
  CHECK(succeed(claimed) == SettleStatus::fenced);
}

}  // namespace
}  // namespace waybill::test
