#pragma once

#include <string>
#include <vector>

#include "cli/program/session.hpp"
#include "cli/tables/input.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::cli {

/// The families that --compare takes, and those that it compares unless some are named.
[[nodiscard]] std::vector<std::string> comparable_families();
inline const std::vector<std::string> kUsualFamilies{"gaussian",      "triweight", "biweight", "parabola",
                                                     "beta-gaussian", "uniform",   "laplace",  "triangular"};

/// `fenchel fit FILE --compare`: families by their scores on rows that were held out. What can be estimated
/// of a family is.
void run_compare(const Session& session, const InputOptions& input, std::vector<std::string> names,
                 index_t folds);

}  // namespace fenchel::cli
