// The disk is full: a clear word, nothing lost, nothing twice, and everything goes on once there is room.

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "crash/audit.hpp"
#include "crash/site.hpp"
#include "support/catch.hpp"

namespace waybill::test {
namespace {

using Json = nlohmann::json;

/// A small disk of its own. Needs root; that it can't be had is a failure, never a silent skip.
class SmallDisk {
 public:
  explicit SmallDisk(const char* size) {
    if (::mount("waybill-test", path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, option(size).c_str()) != 0)
      throw std::runtime_error(std::string{"can't mount a tmpfs (these tests need root): "} + std::strerror(errno));
  }
  ~SmallDisk() { ::umount2(path().c_str(), MNT_DETACH); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  void grow(const char* size) const {
    REQUIRE(::mount("waybill-test", path().c_str(), "tmpfs", MS_REMOUNT | MS_NOSUID | MS_NODEV, option(size).c_str()) ==
            0);
  }
  /// Takes all room but so many bytes.
  void fill(std::uint64_t leave) const {
    const std::uint64_t room = std::filesystem::space(path()).available;
    const int fd = ::open(filler().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    CHECK((room <= leave || ::posix_fallocate(fd, 0, static_cast<off_t>(room - leave)) == 0));
    ::close(fd);
  }
  void make_room() const { std::filesystem::remove(filler()); }

 private:
  [[nodiscard]] std::filesystem::path filler() const { return path() / "filler"; }
  static std::string option(const char* size) { return std::string{"size="} + size; }

  TempDir folder_{"waybill-disk"};
};

std::string from_line(const std::vector<Json>& events, std::size_t line) {
  return to_lines({events.begin() + static_cast<std::ptrdiff_t>(line - 1), events.end()});
}

TEST_CASE("put on a full disk says from which line to go on, and from there it goes on") {
  const SmallDisk disk{"1536k"};
  const Site site{disk.path()};
  constexpr std::size_t kEvents = 3000;
  const std::vector<Json> events = input_events(kEvents, 50, 1000);
  const ProcessResult stopped = site.try_run({"put", "--json", "--batch", "50"}, to_lines(events));
  INFO(stopped.err);
  REQUIRE(stopped.exit_code == 1);
  const Json answer = Json::parse(stopped.out);
  CHECK(answer.at("complete") == false);
  const std::size_t resume = answer.at("resume_line");
  REQUIRE(resume > 1);
  CHECK(answer.at("inserted") == resume - 1);
  CHECK_THAT(stopped.err, Catch::Contains("go on from line " + std::to_string(resume)));
  CHECK_THAT(stopped.err, Catch::Contains("no room on the disk"));

  SECTION("the disk is still full: nothing changes, and it says the same") {
    const ProcessResult again = site.try_run({"put", "--json", "--batch", "500"}, from_line(events, resume));
    CHECK(again.exit_code == 1);
    CHECK(Json::parse(again.out).at("resume_line") == 1);
  }
  disk.grow("32m");
  CHECK(site.books().accepted() == resume - 1);
  const Json rest = Json::parse(site.run({"put", "--json"}, from_line(events, resume)));
  CHECK(rest.at("inserted") == kEvents - (resume - 1));
  CHECK(rest.at("duplicates") == 0);
  const Json all = Json::parse(site.run({"put", "--json"}, to_lines(events)));
  CHECK(all.at("duplicates") == kEvents);
  const Output output = read_output(site.drain("relay", {"--order", "aggregate"}));
  CHECK(output.deliveries.size() == kEvents);
  CHECK(numbers_of(output.deliveries).size() == kEvents);
  CHECK(order_breaks(output.deliveries).empty());
  site.check_file_is_sound();
}

TEST_CASE("a relay on a full disk waits for room, and delivers nothing twice") {
  const SmallDisk disk{"8m"};
  const Site site{disk.path()};
  constexpr std::size_t kEvents = 2000;
  site.run({"put", "--batch", "500"}, to_lines(input_events(kEvents, 50, 300)));
  disk.fill(600U << 10);  // a few batches go through before the log of changes finds no room
  Process relay{site.relay("relay", {"--batch", "50", "--order", "aggregate", "--poll", "50ms"})};
  const auto complains = [&] {
    return read_file(site.errors_of("relay")).find("no room on the disk") != std::string::npos;
  };
  REQUIRE(eventually(complains));
  const std::size_t delivered = read_output(read_file(site.output_of("relay"))).deliveries.size();
  CHECK(delivered > 0);
  CHECK(delivered < kEvents);
  REQUIRE_FALSE(relay.poll());
  disk.make_room();
  wait_for_books(site, "all delivered", [](const Books& books) { return books.succeeded == kEvents; });
  relay.signal(SIGTERM);
  CHECK(relay.wait().exit_code == 0);
  const Output output = read_output(read_file(site.output_of("relay")));
  CHECK(output.deliveries.size() == kEvents);
  CHECK(numbers_of(output.deliveries).size() == kEvents);
  CHECK(order_breaks(output.deliveries).empty());
  for (const Json& event : site.list()) CHECK(event.at("retry_count") == 0);
  site.check_file_is_sound();
}

}  // namespace
}  // namespace waybill::test
