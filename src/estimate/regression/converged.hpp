#pragma once

#include <string>
#include <string_view>

#include "fenchel/core/error.hpp"
#include "fenchel/estimate/regression/minimize.hpp"

namespace fenchel::detail {

/// Throws ConvergenceError unless the residual is at most `accepted`; `hint` says what the cause may be.
inline void check_converged(std::string_view where, const Minimum& found, double accepted,
                            const std::string& hint) {
  if (found.residual <= accepted) return;
  throw ConvergenceError(error_message(where, "the residual", "must reach " + shortest(accepted) + hint,
                                       shortest(found.residual) + ", " +
                                           std::string(to_string(found.status)) + " after " +
                                           std::to_string(found.iterations) + " iterations"));
}

}  // namespace fenchel::detail
