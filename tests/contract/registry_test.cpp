// The stores as URLs name them, and what only the in-memory one has.

#include "contract/contract_fixture.hpp"
#include "support/temp_dir.hpp"
#include "waybill/backends/builtin.hpp"
#include "waybill/backends/memory.hpp"

namespace waybill::test {
namespace {

BackendRegistry builtin() {
  BackendRegistry registry("store");
  register_builtin_backends(registry);
  return registry;
}

AppendStatus append_one(IEventRepository& store, const NewEvent& event) {
  return store.append({&event, 1}).front().status;
}

/// True when opening fails with a text that says `word`.
bool refuses(const BackendRegistry& registry, const std::string& url, const std::string& word) {
  try {
    (void)registry.open(url);
  } catch (const ConfigError& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find(word) != std::string::npos);
    return true;
  }
  return false;
}

TEST_CASE("memory: is a database of its own each time", "[registry]") {
  const BackendRegistry registry = builtin();
  const auto one = registry.open("memory:");
  const auto other = registry.open("memory:");
  append_one(*one, make_event("E1"));
  CHECK(one->find("E1").has_value());
  CHECK_FALSE(other->find("E1").has_value());
}

TEST_CASE("memory:NAME is shared within one registry, and outlives its repositories", "[registry]") {
  const BackendRegistry registry = builtin();
  append_one(*registry.open("memory:orders"), make_event("E1"));
  CHECK(registry.open("memory:orders")->find("E1").has_value());
  CHECK_FALSE(registry.open("memory:others")->find("E1").has_value());
  const BackendRegistry copy = registry;
  CHECK(copy.open("memory:orders")->find("E1").has_value());
  CHECK_FALSE(builtin().open("memory:orders")->find("E1").has_value());
}

TEST_CASE("memory: takes the options of a bounded buffer", "[registry]") {
  const BackendRegistry registry = builtin();
  const auto small = registry.open("memory:?max_events=1&max_payload=20");
  append_one(*small, make_event("E1"));
  CHECK_THROWS_AS(append_one(*small, make_event("E2")), StorageError);
  NewEvent big = make_event("E3");
  big.event_payload = '"' + std::string(30, 'x') + '"';
  CHECK_THROWS_AS(append_one(*small, big), InvalidEvent);

  const auto dropping = registry.open("memory:?max_events=1&on_full=drop_oldest");
  append_one(*dropping, make_event("E1"));
  CHECK(append_one(*dropping, make_event("E2")) == AppendStatus::inserted);
  CHECK(dropping->stats({}).dropped == 1);
}

TEST_CASE("memory: takes the caller's clock", "[registry]") {
  OpenContext context;
  const auto clock = std::make_shared<ManualClock>();
  context.clock = clock;
  CHECK(builtin().open("memory:", context)->now() == clock->now());
  const auto wall = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  CHECK(builtin().open("memory:")->now() >= wall);
}

TEST_CASE("a wrong memory: URL says what is wrong", "[registry]") {
  const BackendRegistry registry = builtin();
  CHECK(refuses(registry, "memory:?max_event=1", "max_events"));
  CHECK(refuses(registry, "memory:?on_full=explode", "drop_oldest"));
  CHECK(refuses(registry, "memory://host/x", "memory:NAME"));
  CHECK(refuses(registry, "mem:", "memory"));
  const auto first = registry.open("memory:m?max_events=5");
  CHECK(refuses(registry, "memory:m?max_events=6", "other options"));
  CHECK_NOTHROW(registry.open("memory:m?max_events=5"));
  CHECK_NOTHROW(registry.open("memory:m"));
}

#ifdef WAYBILL_WITH_SQLITE
TEST_CASE("sqlite: opens a file", "[registry]") {
  const TempDir directory;
  const BackendRegistry registry = builtin();
  const std::string url = "sqlite://" + (directory.path() / "a.db").string();
  OpenContext create;
  create.mode = OpenMode::create;
  append_one(*registry.open(url, create), make_event("E1"));
  CHECK(registry.open(url)->find("E1").has_value());
}
#endif

TEST_CASE("the in-memory inbox lets each consumer see an event once", "[inbox]") {
  const auto database = make_memory_database();
  CHECK(consume_once(*database, "billing", "E1"));
  CHECK_FALSE(consume_once(*database, "billing", "E1"));
  CHECK(consume_once(*database, "billing", "E2"));
  CHECK(consume_once(*database, "search", "E1"));
  CHECK_FALSE(consume_once(*database, "search", "E1"));
}

TEST_CASE("the in-memory store claims from a long queue quickly", "[memory]") {
  // 100,000 events of one aggregate: what is quadratic in the queue would take minutes here.
  const auto store = make_memory_repository(MemoryOptions{});
  std::vector<NewEvent> events;
  for (int i = 0; i < 100'000; ++i) events.push_back(make_event("E" + std::to_string(i), "one"));
  REQUIRE(store->append(events).size() == events.size());
  std::vector<Settlement> done;
  std::size_t delivered = 0;
  do {
    const auto claimed = store->exchange(done, ordered_request(1000)).claimed.events;
    done.clear();
    for (const Event& event : claimed) done.push_back({token_of(event), Command::succeed, {}, "", false});
    delivered += claimed.size();
  } while (!done.empty());
  CHECK(delivered == events.size());
}

}  // namespace
}  // namespace waybill::test
