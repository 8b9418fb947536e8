#pragma once

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// How much of a row is wanted: E_p[psi]; its derivatives in mu and Sigma too; that in alpha too; on the line
/// that in the function's variance too, without and with that in alpha.
enum class Wanted { kValues, kGradient, kAlphaToo, kBasisToo, kAll };
[[nodiscard]] constexpr bool alpha_too(Wanted wanted) noexcept {
  return wanted == Wanted::kAlphaToo || wanted == Wanted::kAll;
}
[[nodiscard]] constexpr bool basis_too(Wanted wanted) noexcept {
  return wanted == Wanted::kBasisToo || wanted == Wanted::kAll;
}

/// How accurate a row has to be: as a float, or as a double.
enum class Accuracy { kSingle, kDouble };

}  // namespace fenchel::detail
