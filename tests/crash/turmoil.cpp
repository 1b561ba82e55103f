#include "turmoil.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <thread>

#include "support/catch.hpp"

namespace waybill::test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kRelays = 2;
constexpr std::size_t kPutters = 4;
constexpr std::size_t kPutBatch = 4;
constexpr std::size_t kChunkLines = 60;
constexpr std::size_t kRelayBatch = 10;
constexpr int kAggregates = 15;
constexpr milliseconds kLease{1000};

std::uintmax_t size_of(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  return ignored ? 0 : size;
}

}  // namespace

Turmoil::Turmoil(TurmoilPlan plan, Chance& chance, Site& site, MortalServer server)
    : plan_(std::move(plan)),
      chance_(chance),
      site_(site),
      server_(std::move(server)),
      relays_(kRelays),
      putters_(kPutters) {
  REQUIRE((plan_.server_dies_every > 0) == (server_.kill != nullptr));
  if (!plan_.shared_output) return;
  shared_fd_ = ::open(site_.file("all.ndjson").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  REQUIRE(shared_fd_ >= 0);
}

Turmoil::~Turmoil() {
  if (shared_fd_ >= 0) ::close(shared_fd_);
}

std::filesystem::path Turmoil::output_of(const Life& life) const {
  return plan_.shared_output ? site_.file("all.ndjson") : site_.output_of(life.owner);
}

void Turmoil::run_rounds() {
  for (int round = 0; round < plan_.rounds; ++round) {
    CAPTURE(round);
    thaw(false);
    start_what_is_missing();
    if (chance_.percent(20)) check_books();
    // A frozen relay may hold the write lock, and nobody but this loop would wake it.
    if (chance_.percent(15) && !anybody_frozen()) site_.run({"archive", "--older-than", "0s", "--json"});
    if (plan_.server_dies_every > 0 && round % plan_.server_dies_every == 1)
      strike_server();
    else
      strike();
  }
}

void Turmoil::start_what_is_missing() {
  for (Relay& relay : relays_)
    if (!relay.process || never_began(relay)) start(relay);
  for (std::size_t at = 0; at < putters_.size(); ++at) {
    Putter& putter = putters_[at];
    if (putter.process && putter.process->poll()) collect(putter);
    if (!putter.process) start(putter, new_chunk(at));
  }
}

void Turmoil::start(Relay& relay) {
  relay.life = lives_.size();
  Life& life = lives_.emplace_back();
  life.owner = "relay-" + std::to_string(lives_.size());
  life.servers_killed = counts_.servers_killed;
  life.workers = chance_.percent(30) ? 2 : 1;
  ProcessOptions options =
      site_.relay(life.owner, {"--order", plan_.order, "--batch", std::to_string(kRelayBatch), "--lease", "1s",
                               "--recovery", "200ms", "--poll", "50ms", "--workers", std::to_string(life.workers)});
  if (plan_.shared_output) options.output_fd = shared_fd_;
  relay.process = std::make_unique<Process>(options);
  relay.frozen_until.reset();
}

std::size_t Turmoil::new_chunk(std::size_t putter) {
  Chunk& chunk = chunks_.emplace_back();
  chunk.name = "put-" + std::to_string(putter) + "-" + std::to_string(chunks_.size());
  std::vector<Json> events;
  for (std::size_t line = 0; line < kChunkLines; ++line) {
    chunk.numbers.push_back(chunk.name + "-" + std::to_string(line));
    const std::string group = plan_.on_server ? "a" + std::to_string(putter) + "-" : "a";
    const std::string aggregate = group + std::to_string(chance_.between(1, kAggregates));
    events.push_back(input_event(chunk.numbers.back(), aggregate, static_cast<std::size_t>(chance_.between(0, 3000))));
    input_.emplace(chunk.numbers.back(), events.back());
  }
  write_file(site_.file(chunk.name), to_lines(events));
  return chunks_.size() - 1;
}

void Turmoil::start(Putter& putter, std::size_t chunk) {
  Chunk& what = chunks_[chunk];
  ++what.attempts;
  ProcessOptions options = site_.verb({"put", "--json", "--batch", std::to_string(kPutBatch), what.name});
  options.output = site_.file(what.name + ".json");
  options.errors = site_.errors_of(what.name);
  putter.chunk = chunk;
  putter.servers_killed = counts_.servers_killed;
  putter.process = std::make_unique<Process>(options);
}

/// A put that ended by itself has put the whole chunk; what earlier attempts had put is there in whole batches.
void Turmoil::collect(Putter& putter) {
  const ProcessEnd end = putter.process->wait();
  putter.process.reset();
  Chunk& chunk = chunks_[putter.chunk];
  INFO(chunk.name << ": " << read_file(site_.errors_of(chunk.name)));
  if (end.exit_code == 1 && counts_.servers_killed > putter.servers_killed) return put_again(putter);
  REQUIRE(end.exit_code == 0);
  const Json answer = Json::parse(read_file(site_.file(chunk.name + ".json")));
  const std::size_t duplicates = answer.at("duplicates");
  CHECK(answer.at("complete") == true);
  CHECK(answer.at("inserted").get<std::size_t>() + duplicates == chunk.numbers.size());
  CHECK(answer.at("conflicts") == 0);
  CHECK(answer.at("refused") == 0);
  CHECK(duplicates % kPutBatch == 0);
  if (chunk.attempts == 1) CHECK(duplicates == 0);
  if (duplicates > 0 && duplicates < chunk.numbers.size()) ++counts_.puts_cut;
  chunk.accepted = true;
}

/// Its server died under it: the same file again. What it has said to be in the store, if anything, is there.
void Turmoil::put_again(Putter& putter) {
  Chunk& chunk = chunks_[putter.chunk];
  ++counts_.puts_failed;
  const std::string said = read_file(site_.file(chunk.name + ".json"));
  if (!said.empty()) {
    const Json answer = Json::parse(said);
    CHECK(answer.at("complete") == false);
    const std::size_t lines = answer.at("inserted").get<std::size_t>() + answer.at("duplicates").get<std::size_t>();
    CHECK(answer.at("resume_line") == lines + 1);
    chunk.reported = std::max(chunk.reported, lines);
  }
  start(putter, putter.chunk);
}

void Turmoil::strike() {
  Relay& relay = relays_[static_cast<std::size_t>(chance_.between(0, kRelays - 1))];
  Putter& putter = putters_[static_cast<std::size_t>(chance_.between(0, kPutters - 1))];
  if (chance_.percent(35)) {
    std::this_thread::sleep_for(milliseconds{chance_.between(0, 60)});  // a random moment, nothing to wait for
    kill(putter);
    return;
  }
  wait_for_a_moment(relay);
  if (never_began(relay)) return;
  INFO(read_file(site_.errors_of(lives_[relay.life].owner)));
  REQUIRE_FALSE(relay.process->poll());  // no relay ends by itself
  if (!relay.frozen_until && chance_.percent(plan_.freeze_percent))
    freeze(relay);
  else
    kill(relay);
}

/// Whoever is connected fails, and goes on when the server is back.
void Turmoil::strike_server() {
  Relay& relay = relays_[static_cast<std::size_t>(chance_.between(0, kRelays - 1))];
  wait_for_a_moment(relay);
  server_.kill();
  ++counts_.servers_killed;
  if (chance_.percent(30)) kill(relay);
  std::this_thread::sleep_for(milliseconds{chance_.between(0, 500)});
  server_.start();
  for (Relay& one : relays_) {
    if (!one.process || never_began(one)) continue;
    INFO(read_file(site_.errors_of(lives_[one.life].owner)));
    REQUIRE_FALSE(one.process->poll());
  }
}

/// True when the server died before the relay had opened its stores: that ends a relay, and is all it says.
bool Turmoil::never_began(Relay& relay) {
  const Life& life = lives_[relay.life];
  return life.servers_killed < counts_.servers_killed && relay.process->poll() &&
         relay.process->poll()->exit_code == 1 &&
         read_file(site_.errors_of(life.owner)).rfind("waybill relay: ", 0) == 0;
}

/// Any moment, or the one that hurts most: right after something was delivered, before that is recorded.
void Turmoil::wait_for_a_moment(const Relay& victim) {
  if (chance_.percent(40)) {
    std::this_thread::sleep_for(milliseconds{chance_.between(0, 250)});
    return;
  }
  const std::filesystem::path output = output_of(lives_[victim.life]);
  const std::uintmax_t before = size_of(output);
  const auto give_up = steady_clock::now() + milliseconds{600};
  while (size_of(output) == before && steady_clock::now() < give_up) std::this_thread::yield();
  if (chance_.percent(50)) std::this_thread::sleep_for(std::chrono::microseconds{chance_.between(0, 3000)});
}

void Turmoil::kill(Relay& relay) {
  relay.process->signal(SIGKILL);
  if (relay.process->wait().signal != SIGKILL) REQUIRE(never_began(relay));
  relay.process.reset();
  relay.frozen_until.reset();
  lives_[relay.life].killed = true;
  ++counts_.relays_killed;
}

void Turmoil::kill(Putter& putter) {
  putter.process->signal(SIGKILL);
  if (putter.process->wait().signal != SIGKILL) {
    collect(putter);  // it was faster
    return;
  }
  putter.process.reset();
  ++counts_.puts_killed;
  if (chance_.percent(60)) start(putter, putter.chunk);  // else nobody ever says how much of it was written
}

void Turmoil::freeze(Relay& relay) {
  relay.process->signal(SIGSTOP);
  relay.frozen_until = steady_clock::now() + kLease + milliseconds{chance_.between(200, 800)};
  ++counts_.frozen;
}

void Turmoil::thaw(bool all) {
  for (Relay& relay : relays_) {
    if (!relay.frozen_until) continue;
    if (all) REQUIRE(eventually([&] { return steady_clock::now() >= *relay.frozen_until; }));
    if (steady_clock::now() < *relay.frozen_until) continue;
    relay.process->signal(SIGCONT);
    relay.frozen_until.reset();
  }
}

bool Turmoil::anybody_frozen() const {
  return std::any_of(relays_.begin(), relays_.end(), [](const Relay& relay) { return relay.frozen_until.has_value(); });
}

/// What was accepted stays accepted, whatever state it is in.
void Turmoil::check_books() {
  const Books books = site_.books();
  CHECK(books.accepted() >= accepted_so_far_);
  CHECK(books.accepted() <= input_.size());
  CHECK(books.dead == 0);
  CHECK(books.dropped == 0);
  accepted_so_far_ = books.accepted();
}

std::string Turmoil::describe_relays() const {
  std::string text;
  for (const Relay& relay : relays_)
    text += lives_[relay.life].owner + ":\n" + read_file(site_.errors_of(lives_[relay.life].owner));
  return text;
}

void Turmoil::settle_down() {
  thaw(true);
  for (Putter& putter : putters_)
    while (putter.process) collect(putter);
  const auto nothing_is_left = [&] {
    for (Relay& relay : relays_)
      if (!relay.process || never_began(relay)) start(relay);
    return site_.books().unfinished() == 0;
  };
  if (!eventually(nothing_is_left, std::chrono::seconds{60}))
    FAIL("the relays leave something undone\n"
         << site_.run({"list", "--limit", "20", "--status", "in_progress"}) << describe_relays());
  for (Relay& relay : relays_) {
    relay.process->signal(SIGTERM);
    const int exit_code = relay.process->wait(std::chrono::seconds{20}).exit_code;
    INFO(read_file(site_.errors_of(lives_[relay.life].owner)));
    CHECK((exit_code == 0 || never_began(relay)));
  }
}

// What came of it.

void Turmoil::audit() {
  const std::vector<Delivery> deliveries = read_outputs();
  CHECK(differences(deliveries, input_) == std::vector<std::string>{});
  CHECK(repeats_within_a_claim(deliveries) == std::vector<std::string>{});
  if (plan_.order == "aggregate") CHECK(order_breaks(deliveries) == std::vector<std::string>{});
  audit_puts(deliveries);
  audit_repeats(deliveries);
  audit_books(numbers_of(deliveries).size());
  site_.check_file_is_sound();
  std::cout << plan_.rounds << " rounds, " << counts_.relays_killed << " relays killed, " << counts_.frozen
            << " frozen; " << counts_.servers_killed << " servers killed, " << counts_.puts_failed
            << " puts failed by it; " << counts_.puts_killed << " puts killed, " << counts_.puts_cut
            << " of them in the middle; " << numbers_of(deliveries).size() << " events, " << counts_.repeats
            << " delivered again, " << counts_.torn << " torn lines" << std::endl;
}

std::vector<Delivery> Turmoil::read_outputs() {
  if (plan_.shared_output) {
    Output all = read_output(read_file(site_.file("all.ndjson")), true);
    CHECK_FALSE(all.torn_end);  // those that wrote last ended well
    CHECK(all.glued <= counts_.relays_killed);
    counts_.torn = all.glued;
    return std::move(all.deliveries);
  }
  std::vector<Delivery> deliveries;
  std::vector<std::string> torn;
  for (const Life& life : lives_) {
    Output one = read_output(read_file(output_of(life)));
    deliveries.insert(deliveries.end(), one.deliveries.begin(), one.deliveries.end());
    if (!one.torn_end) continue;
    INFO(life.owner);
    CHECK(life.killed);
    torn.push_back(one.torn_event_no);
  }
  counts_.torn = torn.size();
  const std::set<std::string> whole = numbers_of(deliveries);
  for (const std::string& number : torn)
    if (!number.empty()) CHECK(whole.count(number) == 1);
  return deliveries;
}

/// All of what a put reported, and of the puts that were killed for good whole batches from the start on.
void Turmoil::audit_puts(const std::vector<Delivery>& deliveries) {
  std::map<std::string, std::int64_t> ids;
  for (const Delivery& delivery : deliveries) {
    const auto [entry, fresh] = ids.emplace(delivery.event_no, delivery.id);
    if (!fresh) CHECK(entry->second == delivery.id);
  }
  for (const Chunk& chunk : chunks_) {
    CAPTURE(chunk.name, chunk.accepted);
    std::size_t there = 0;
    std::int64_t last_id = 0;
    while (there < chunk.numbers.size() && ids.count(chunk.numbers[there]) == 1) {
      CHECK(ids[chunk.numbers[there]] > last_id);
      last_id = ids[chunk.numbers[there++]];
    }
    CHECK(there >= chunk.reported);
    if (chunk.accepted) CHECK(there == chunk.numbers.size());
    CHECK(there % kPutBatch == 0);
    for (std::size_t line = there; line < chunk.numbers.size(); ++line) CHECK(ids.count(chunk.numbers[line]) == 0);
    if (!chunk.accepted && there > 0) ++counts_.puts_cut;
  }
}

const Turmoil::Life& Turmoil::life_of(const std::string& owner) const {
  const std::string name = owner.substr(0, owner.find('/'));  // "relay-7/1" is its second worker
  const auto life = std::find_if(lives_.begin(), lives_.end(), [&](const Life& one) { return one.owner == name; });
  REQUIRE(life != lives_.end());
  return *life;
}

bool Turmoil::is_of_last_claim(const Delivery& lost, const std::vector<Delivery>& deliveries) const {
  const std::vector<Delivery> all_lost = unrecorded(deliveries);
  const auto is_lost = [&](const Delivery& one) {
    return std::any_of(all_lost.begin(), all_lost.end(),
                       [&](const Delivery& other) { return other.id == one.id && other.version == one.version; });
  };
  return std::all_of(deliveries.begin(), deliveries.end(), [&](const Delivery& one) {
    if (one.owner != lost.owner || one.claimed_at <= lost.claimed_at) return true;
    return plan_.on_server && is_lost(one);
  });
}

/// An event is delivered again only when its relay was killed between delivery and settling, which takes the last batch
/// of each worker, or when it had lost the lease (frozen, short of CPU, or kept from the store) and says so.
void Turmoil::audit_repeats(const std::vector<Delivery>& deliveries) {
  std::map<std::string, std::size_t> lost_by_kill;
  for (const Delivery& delivery : unrecorded(deliveries)) {
    ++counts_.repeats;
    const Life& life = life_of(delivery.owner);
    const std::string log = read_file(site_.errors_of(life.owner));
    if (log.find("event " + std::to_string(delivery.id) + ": the lease was lost") != std::string::npos) continue;
    CAPTURE(delivery.event_no, delivery.owner, delivery.claimed_at, log);
    CHECK(life.killed);
    CHECK(is_of_last_claim(delivery, deliveries));
    CHECK(++lost_by_kill[delivery.owner] <= kRelayBatch);
  }
}

void Turmoil::audit_books(std::size_t delivered) {
  const Books books = site_.books();
  CHECK(books.accepted() == delivered);
  CHECK(books.succeeded + books.archived == delivered);
  CHECK(books.dead == 0);
  site_.run({"purge", "--older-than", "0s"});
  CHECK(site_.books().purged == delivered);
  CHECK(site_.books().accepted() == delivered);
}

}  // namespace waybill::test
