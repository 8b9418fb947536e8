#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/program/session.hpp"

namespace fenchel::cli {

/// A result with named parts, in their order: one object of JSON. Its other forms follow from it: rows of
/// name and value, where a part within a part is "test.r2".
using Record = nlohmann::ordered_json;

/// A number as JSON can hold it: what is not finite becomes "inf", "-inf" or "nan".
[[nodiscard]] Record number(double value);

/// JSON on one line, or with each part indented so far. Names of columns that are not UTF-8 get U+FFFD where
/// they are wrong, and no 0 has a sign.
[[nodiscard]] std::string json_text(Record record, int indent = -1);

/// Throws UsageError where print would: for a form that a result with names does not have.
void check_form(const Session& session);
/// Prints to session.result: JSON, else aligned on a terminal, else CSV with the columns name and value.
/// Numbers in JSON and CSV are the shortest that read back, on a terminal they have six digits. Does nothing
/// unless the session speaks.
void print(const Session& session, const Record& record);

}  // namespace fenchel::cli
