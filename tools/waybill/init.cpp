// `waybill init`: the tables.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"
#ifdef WAYBILL_WITH_MYSQL
#include "waybill/backends/mysql.hpp"
#endif
#ifdef WAYBILL_WITH_SQLITE
#include "waybill/backends/sqlite.hpp"
#endif

namespace waybill::cli {
namespace {

constexpr const char* kExamples =
    R"(Creates the tables or brings older ones up to date; running it again changes nothing.
  --indexes lean   what delivery needs (default on SQLite)
  --indexes full   the whole set of the table model, for questions on big tables; costs every write (default on MySQL)

Examples:
  waybill init --store sqlite:events.db
  waybill init --store sqlite:events.db --indexes full
  waybill init --store sqlite:events.db --print-sql | sqlite3 events.db
  waybill init --store mysql://app@db.example/shop --indexes lean)";

struct InitOptions {
  std::string indexes;
  bool print_sql{false};
};

/// The URL with `indexes=` as the flag says; only stores that have tables know it.
Url with_indexes(Url url, const std::string& indexes) {
  if (indexes.empty()) return url;
  const auto key = [](const auto& pair) { return pair.first == "indexes"; };
  url.query.erase(std::remove_if(url.query.begin(), url.query.end(), key), url.query.end());
  url.query.emplace_back("indexes", indexes);
  return url;
}

void print_schema(const Url& url, const Session& session) {
  OpenContext context;
  context.mode = OpenMode::read_only;
  context.table = session.common.table;
#ifdef WAYBILL_WITH_SQLITE
  if (url.scheme == "sqlite") {
    print(sqlite_schema_sql(sqlite_options(url, context)));
    return;
  }
#endif
#ifdef WAYBILL_WITH_MYSQL
  if (url.scheme == "mysql" || url.scheme == "mariadb") {
    print(mysql_schema_sql(mysql_options(url, context)));
    return;
  }
#endif
  throw ConfigError("the store " + url.redacted() + " has no tables to print");
}

int run(const InitOptions& options, const Session& session) {
  const Url url = with_indexes(session.store_url(), options.indexes);
  if (options.print_sql) {
    print_schema(url, session);
    return kDone;
  }
  const auto repository = session.open(url, OpenMode::create);
  if (session.common.json)
    print_line(nlohmann::ordered_json{{"store", session.store_name()}, {"ready", true}}.dump());
  else
    session.tell("init: " + session.store_name() + " is ready");
  return kDone;
}

}  // namespace

Action define_init(CLI::App& app, Session& session) {
  const auto options = std::make_shared<InitOptions>();
  app.add_option("--indexes", options->indexes, "lean or full; default: as the store's URL says")
      ->type_name("SET")
      ->check(CLI::IsMember({"full", "lean"}));
  app.add_flag("--print-sql", options->print_sql, "only print the statements; nothing is opened or changed");
  app.footer(kExamples);
  return [options, &session] { return run(*options, session); };
}

}  // namespace waybill::cli
