#include "mysql/mysql_schema.hpp"

#include <algorithm>

#include "mysql/mysql_adopted.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;

constexpr unsigned kDuplicateKeyName = 1061;
/// Comments that only the one or the other server reads: the same text runs on both.
constexpr std::string_view kExact = "/*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */";
constexpr std::string_view kCollation = "/*!80017 utf8mb4_0900_ai_ci *//*M! utf8mb4_uca1400_ai_ci */";
constexpr const char* kLock = "SELECT GET_LOCK(CONCAT('waybill init ', LEFT(DATABASE(), 40)), 60)";
constexpr const char* kUnlock = "DO RELEASE_LOCK(CONCAT('waybill init ', LEFT(DATABASE(), 40)))";

std::string render(std::string_view text, const MysqlOptions& options) {
  return backends::render_sql(text, {{"exact", kExact},
                                     {"collation", kCollation},
                                     {"json", options.text_payload ? "LONGTEXT" : "JSON"},
                                     {"claim_key", options.full_indexes ? ", retry_count" : ""}});
}

/// The statements of a script, which end with `;` at the end of a line.
std::vector<std::string> statements_of(std::string_view script) {
  std::vector<std::string> statements;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find(";\n"), script.size());
    std::string_view one = script.substr(0, end);
    while (!one.empty() && (one.back() == ';' || one.back() == '\n')) one.remove_suffix(1);
    one.remove_prefix(std::min(one.find_first_not_of(" \n"), one.size()));
    if (!one.empty()) statements.emplace_back(one);
    script.remove_prefix(std::min(end + 2, script.size()));
  }
  return statements;
}

[[noreturn]] void refuse(const std::string& where, std::int64_t found, const std::string& advice) {
  throw StorageError(ErrorCode::schema, where + " has schema version " + std::to_string(found) + ", this waybill has " +
                                            std::to_string(newest_version()) + "; " + advice);
}

/// Held by the session; the server frees it when the session ends.
class InitLock {
 public:
  explicit InitLock(Connection& connection) : connection_(connection) {
    Statement take = connection_.statements().prepare(kLock);
    const Query query(take);
    if (!query->next() || query->integer(0) != 1)
      throw StorageError(ErrorCode::busy, "another `waybill init` is at work on this database; try again");
  }
  ~InitLock() {
    try {
      connection_.execute(kUnlock);
    } catch (const StorageError&) {
      // The session ends soon, and the lock with it.
    }
  }
  InitLock(const InitLock&) = delete;
  InitLock& operator=(const InitLock&) = delete;

 private:
  Connection& connection_;
};

/// ALTER TABLE … ADD KEY, unless a key of that name is there.
void add_key(Connection& connection, const std::string& statement) {
  try {
    connection.execute(statement);
  } catch (const ServerError& error) {
    if (error.number() != kDuplicateKeyName) throw;
  }
}

bool has_table(Statements& statements, std::string_view name) {
  const Query table(statements.get(texts::has_table).add(name));
  return table->next() && table->integer(0) != 0;
}

/// Makes ours of a table that somebody created by the seed's own text: every column as our CREATE TABLE has it (the
/// id's AUTO_INCREMENT, microseconds, exact comparison), and the keys that are missing.
void adopt_table(Connection& connection, std::string_view create) {
  constexpr std::string_view kIndent = "    ";
  const std::string alter = "ALTER TABLE biz_outbox_event ";
  std::string columns;
  std::vector<std::string> keys;
  while (!create.empty()) {
    const std::size_t end = std::min(create.find('\n'), create.size());
    std::string_view line = create.substr(0, end);
    create.remove_prefix(std::min(end + 1, create.size()));
    if (!line.starts_with(kIndent)) continue;
    line.remove_prefix(kIndent.size());
    if (line.ends_with(',')) line.remove_suffix(1);
    if (line.starts_with("KEY") || line.starts_with("UNIQUE KEY"))
      keys.push_back(alter + "ADD " + std::string(line));
    else if (!line.starts_with("PRIMARY KEY"))
      columns += (columns.empty() ? "MODIFY " : ", MODIFY ") + std::string(line);
  }
  connection.execute(alter + columns);
  for (const std::string& key : keys) add_key(connection, key);
}

void create_delivery_table(Connection& connection, const TableModel& model, const MysqlOptions& options) {
  Statements& statements = connection.statements();
  const std::string name = backends::AdoptedTable::note_of(model);
  const std::string script = read_table(statements, model).render_delivery(texts::create_delivery_table);
  if (const auto served = served_table(statements, model)) backends::AdoptedTable::require_served(model, served);
  for (const std::string& statement : statements_of(render(script, options))) connection.execute(statement);
  statements.get(texts::set_note).add(std::string_view(name)).add(std::string_view(model.table)).run();
}

}  // namespace

std::int64_t newest_version() noexcept { return static_cast<std::int64_t>(texts::kSchema.size()); }

std::int64_t schema_version(Statements& statements) {
  return has_table(statements, "waybill_schema") ? statements.integer(texts::schema_version) : 0;
}

void migrate(Connection& connection, const MysqlOptions& options) {
  const InitLock lock(connection);
  Statements& statements = connection.statements();
  const std::int64_t found = schema_version(statements);
  if (found > newest_version()) refuse("the database", found, "use a newer waybill");
  connection.execute(std::string(texts::create_version_table));
  if (found == 0 && has_table(statements, "biz_outbox_event"))
    adopt_table(connection, render(texts::kSchema.front().text, options));
  for (auto version = found + 1; version <= newest_version(); ++version) {
    const auto& step = texts::kSchema[static_cast<std::size_t>(version - 1)];
    for (const std::string& statement : statements_of(render(step.text, options)))
      statement.starts_with("ALTER TABLE") ? add_key(connection, statement) : connection.execute(statement);
    statements.get(texts::record_migration).add(version).add(step.name).run();
  }
  if (options.full_indexes)
    for (const std::string& statement : statements_of(texts::full_indexes)) add_key(connection, statement);
  try {
    create_delivery_table(connection, *known_table("biz_message_event"), options);
  } catch (const StorageError& error) {
    // Somebody's own table of that name is no reason to have no outbox.
    if (error.code() != ErrorCode::schema) throw;
    if (options.log)
      options.log(LogLevel::warning, std::string("`waybill work` is not possible here: ") + error.what());
  }
  if (options.table) create_delivery_table(connection, *options.table, options);
}

void require_current(Statements& statements, const std::string& where) {
  const std::int64_t found = schema_version(statements);
  if (found == newest_version()) return;
  if (found > newest_version()) refuse(where, found, "use a newer waybill");
  if (found != 0) refuse(where, found, "bring it up to date with `waybill init`");
  throw StorageError(ErrorCode::schema, where + " has no waybill tables; create them with `waybill init`");
}

std::map<std::string, std::string> indexes_of(Statements& statements, std::string_view table) {
  std::map<std::string, std::string> indexes;
  const Query rows(statements.get(texts::index_columns).add(table));
  while (rows->next()) indexes.emplace(rows->text(0), rows->text(1));
  return indexes;
}

bool claim_index_is_the_seeds(Connection& connection) {
  const auto indexes = indexes_of(connection.statements(), "biz_outbox_event");
  const auto found = indexes.find("idx_status_retry_time");
  return found != indexes.end() && found->second.find("retry_count") != std::string::npos;
}

}  // namespace waybill::mysql

namespace waybill {

std::string mysql_schema_sql(const MysqlOptions& options) {
  std::string text = std::string(sql::mysql::create_version_table) + ";\n\n";
  std::size_t version = 0;
  for (const auto& step : sql::mysql::kSchema) {
    ++version;
    text += mysql::render(step.text, options) + "\n\nINSERT IGNORE INTO waybill_schema (version, name)\nVALUES (" +
            std::to_string(version) + ", '" + std::string(step.name) + "');\n\n";
  }
  const auto add_delivery = [&](const TableModel& model, const std::string& script) {
    text += mysql::render(script, options) + "\n\n" + backends::AdoptedTable::note_sql(model) +
            "\nON DUPLICATE KEY UPDATE value = VALUES(value);\n\n";
  };
  constexpr std::string_view create = sql::mysql::create_delivery_table;
  const TableModel& message = *known_table("biz_message_event");
  add_delivery(message, backends::AdoptedTable::render_delivery(create, message));
  if (options.table && options.table->table != message.table) {
    mysql::Connection connection(options);  // the delivery table has a key of the same type
    add_delivery(*options.table, mysql::read_table(connection.statements(), *options.table).render_delivery(create));
  }
  if (options.full_indexes) text += std::string(sql::mysql::full_indexes) + "\n";
  return text;
}

}  // namespace waybill
