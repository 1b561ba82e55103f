#pragma once
// `--config waybill.toml`: keys are the long names of flags, at top level or in a table named like the verb; [table]
// describes a table of the user's.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verb.hpp"
#include "waybill/table_model.hpp"

namespace waybill::cli {

/// The long names a verb knows; for checking the whole file, whichever verb runs.
struct VerbNames {
  std::string_view verb;
  std::vector<std::string> options;
};

/// The long names of an app's options, without `help` and `config`.
[[nodiscard]] std::vector<std::string> option_names(const CLI::App& app);

/// Gives each option that was not on the command line the value the file has for it: from [verb], else from the top
/// level, else from the table the verb also reads. Throws ConfigError, with file and line, for a file that can't be
/// read, a table or key no verb knows (naming the nearest) and a value that does not fit. Returns [table], if it is
/// there.
std::optional<TableModel> apply_config(const std::string& path, const Verb& verb, std::span<const VerbNames> known,
                                       CLI::App& app);

}  // namespace waybill::cli
