#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/tables/record.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel::cli {

/// The parameters that say which members of a family are fitted; one that is not there is estimated.
struct Shape {
  std::optional<double> alpha, gamma, kappa;
};

/// A family that can be fitted.
struct FitFamily {
  std::string name;
  std::string takes;            ///< the option of its shape: "alpha", "gamma", "kappa" or none
  bool can_estimate = false;    ///< that parameter too
  bool several = false;         ///< columns
  std::optional<double> alpha;  ///< of a member with a name
  /// Throws std::domain_error for a shape that no data could have; `columns` is their number.
  void (*check)(const Shape&, index_t columns);
  /// The result of `fenchel fit`, without the name of the family.
  Record (*fit)(const Shape&, const Data&);
};

[[nodiscard]] std::span<const FitFamily> fit_families();

}  // namespace fenchel::cli
