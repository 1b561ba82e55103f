// `waybill bench`: tools/bench measures, this reads the flags.

#include "bench/bench.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "arguments.hpp"
#include "session.hpp"
#include "verb.hpp"

namespace waybill::cli {
namespace {

/// The measures' own table says what there is.
std::string footer() {
  std::string text =
      "Measures on fresh files beside the store's file, never on it; goals are printed, a goal missed is not a "
      "failure.\n"
      "Measures:\n";
  for (const bench::MeasureInfo& measure : bench::measures()) {
    std::string name{measure.name};
    name.resize(std::max<std::size_t>(name.size(), 14), ' ');
    text += "  " + name + "  " + std::string{measure.help} + "\n";
  }
  return text +
         "\nExamples:\n"
         "  waybill bench --store sqlite:/var/lib/app/events.db\n"
         "  waybill bench --store 'sqlite:bench.db?synchronous=normal' --quick\n"
         "  waybill bench --store sqlite:bench.db --json > bench.json";
}

int run(bench::BenchOptions options, const Session& session) {
  options.store = session.store_url().to_string();
  options.json = session.common.json;
  if (::isatty(STDERR_FILENO) == 1 && !session.common.quiet) options.progress = &std::cerr;
  const int status = bench::run(options, std::cout);
  if (!std::cout.flush()) throw std::runtime_error("could not write to standard output");
  return status;
}

}  // namespace

Action define_bench(CLI::App& app, Session& session) {
  struct Arguments {
    bench::BenchOptions bench;
    std::size_t rounds{0};
  };
  const auto arguments = std::make_shared<Arguments>();
  add_list(app, "--only", arguments->bench.only, "only these measures: NAME[,NAME…]")
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_flag("--quick", arguments->bench.quick, "smaller counts, under a minute; says less");
  add_count(app, "--rounds", arguments->rounds, "rounds of each measure; 0: 7, with --quick 3", {0, 99});
  app.footer(footer());
  return [arguments, &session] {
    arguments->bench.rounds = static_cast<unsigned>(arguments->rounds);
    return run(arguments->bench, session);
  };
}

}  // namespace waybill::cli
