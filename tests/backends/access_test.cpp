// Files and folders one may read but not write. For root the permission bits mean nothing, so the asking is done by a
// process without rights, or on a read-only mount.

#include <sys/stat.h>

#include "backends/mounts.hpp"
#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kAnswers = "pending 3 listed 3 found 1 backlog 3 channels 1 findings 1 note 0\n";

/// A store of three events, closed.
class ReadOnly {
 protected:
  ReadOnly() {
    append_many(*file.create(), "E", 3);
    permit(file.folder(), 0755);
    permit(file.path(), 0644);
  }
  ~ReadOnly() { permit(file.folder(), 0700); }

  static void permit(const fs::path& path, unsigned mode) { REQUIRE(::chmod(path.c_str(), mode) == 0); }

  /// What a process of another user prints.
  ProcessResult as_nobody(std::vector<std::string> words) {
    words.insert(words.begin(), "--unprivileged");
    return run_process(helper(std::move(words)), "", scratch.path());
  }
  void check_answers(const ProcessResult& result) {
    CHECK_THAT(result.out, Catch::Matchers::StartsWith(kAnswers));
    CHECK_THAT(result.out, Contains("error denied"));  // the append at its end
    CHECK(result.exit_code == 1);
  }

  StoreFile file;
  TempDir scratch;
};

TEST_CASE_METHOD(ReadOnly, "read-only: questions work on a store that nobody else has open") {
  check_answers(as_nobody({"ask", file.url(), "E1"}));
  CHECK_FALSE(fs::exists(file.wal()));
}

TEST_CASE_METHOD(ReadOnly, "read-only: questions see what a running writer has committed") {
  const auto writer = file.open();
  EventFilter filter;
  filter.event_no = "E3";
  append(*writer, make_event("E4"));
  REQUIRE(writer->cancel(filter, "not wanted", 1) == 1);
  const ProcessResult result = as_nobody({"ask", file.url(), "E4"});
  CHECK_THAT(result.out, Catch::Matchers::StartsWith("pending 3 listed 4 found 1 backlog 3"));
  CHECK_THAT(result.out, Contains("error denied"));
}

TEST_CASE_METHOD(ReadOnly, "read-only: a file that may not be written can't be opened for delivery") {
  SECTION("in a folder that may not be written") {}
  SECTION("in a folder that may") { permit(file.folder(), 0777); }
  const ProcessResult result = as_nobody({"open", file.url()});
  CHECK_THAT(result.out, Catch::Matchers::StartsWith("error denied") && Contains("store.db"));
}

TEST_CASE_METHOD(ReadOnly, "read-only: a file that may be written in a folder that may not") {
  permit(file.path(), 0666);
  CHECK_THAT(as_nobody({"open", file.url()}).out, Catch::Matchers::StartsWith("error denied"));
  check_answers(as_nobody({"ask", file.url(), "E1"}));
}

TEST_CASE_METHOD(ReadOnly, "read-only: a file that may not even be read") {
  permit(file.path(), 0600);
  for (const char* mode : {"", "read_only"}) {
    std::vector<std::string> words{"open", file.url()};
    if (*mode != '\0') words.emplace_back(mode);
    const ProcessResult result = as_nobody(words);
    CHECK_THAT(result.out, Catch::Matchers::StartsWith("error") && Contains("store.db"));
    CHECK_THAT(result.out, Contains("permission"));
  }
}

TEST_CASE_METHOD(ReadOnly, "read-only: quarantine does not take a forbidden file for a damaged one") {
  permit(file.path(), GENERATE(0600u, 0644u));
  permit(file.folder(), 0777);
  CHECK_THAT(as_nobody({"open", file.url("recover=quarantine")}).out, Catch::Matchers::StartsWith("error"));
  CHECK_FALSE(fs::exists(file.path().string() + ".corrupt-1"));
  permit(file.path(), 0644);
  CHECK(file.open()->stats({}).of(Status::pending) == 3);
}

TEST_CASE_METHOD(ReadOnly, "read-only: on a read-only mount") {
  const auto disk = SmallDisk::make("4m");
  if (disk == nullptr) {
    WARN("mounting is not allowed here: the read-only mount was not tested");
    return;
  }
  fs::copy(file.path(), disk->path() / "store.db");
  REQUIRE(disk->make_read_only());
  file.options.path = (disk->path() / "store.db").string();
  {
    const auto store = file.open(OpenMode::read_only);
    CHECK(store->stats({}).of(Status::pending) == 3);
    CHECK(store->query({}, {}).size() == 3);
    CHECK(store->find("E1").has_value());
    CHECK(code_of([&] { append(*store, make_event("E4")); }) == ErrorCode::denied);
  }
  CHECK(code_of([&] { (void)file.open(); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)file.create(); }) == ErrorCode::denied);
}

TEST_CASE_METHOD(ReadOnly, "opened read-only, every write is denied and every question works") {
  const auto store = file.open(OpenMode::read_only);
  const Token token{1, 0, "relay-a"};
  const Settlement settlement{token, Command::succeed, {}, {}, false};
  CHECK(code_of([&] { append(*store, make_event("E4")); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)store->claim(claim_request()); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)store->claim(ordered_request()); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)store->exchange({}, claim_request()); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)settle(*store, settlement); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)store->extend({&token, 1}, 1s); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)store->requeue({}, 1); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)store->cancel({}, "", 1); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)store->archive(file.clock->now(), 1); }) == ErrorCode::denied);
  CHECK(code_of([&] { (void)store->purge(file.clock->now(), 1); }) == ErrorCode::denied);
  CHECK(code_of([&] { store->set_note("a", "b"); }) == ErrorCode::denied);

  CHECK(store->stats({}).of(Status::pending) == 3);
  CHECK(store->backlog().depth() == 3);
  CHECK(store->expired(10).empty());
  CHECK_FALSE(store->note("a").has_value());
  CHECK(store->query({}, {}).size() == 3);
}

}  // namespace
}  // namespace waybill::test
