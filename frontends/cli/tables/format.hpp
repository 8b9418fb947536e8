#pragma once

#include <string>
#include <string_view>

#include "cli/program/session.hpp"

namespace fenchel::cli {

/// 0 for -0, which nobody wants to read.
[[nodiscard]] double without_sign_of_zero(double value);
/// The shortest text that reads back as the same number; "inf", "-inf", "nan".
[[nodiscard]] std::string shortest_text(double value);
/// Six digits, for eyes.
[[nodiscard]] std::string short_text(double value);
/// A field of CSV, in quotes where it needs them.
[[nodiscard]] std::string csv_field(std::string_view text);

enum class Form { table, csv, json, npy };
/// What session.output and session.json ask for: --json, else by the ending of the file, else a table on a
/// terminal and CSV elsewhere (and under mpirun, which pretends to be a terminal). Throws UsageError for
/// --json with another ending.
[[nodiscard]] Form form_of(const Session& session, bool terminal);

}  // namespace fenchel::cli
