#pragma once

#include <string>

#include "cli/families/family.hpp"
#include "cli/program/session.hpp"
#include "cli/tables/input.hpp"

namespace fenchel::cli {

/// `fenchel fit FILE --columns COL --by COLUMN`: a fit to each group of rows that have the same number in
/// that column.
void run_fit_by(const Session& session, const InputOptions& input, const std::string& by,
                const Family& family, const FamilyOptions& shape);

}  // namespace fenchel::cli
