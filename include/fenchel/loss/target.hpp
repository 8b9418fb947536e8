#pragma once

/// The negentropy of a target and its derivative in alpha.

namespace fenchel::detail {

/// Omega_alpha(q) of a target and its derivative with respect to alpha.
struct TargetNegentropy {
  double value, alpha_derivative;
};

template <class Target>
[[nodiscard]] TargetNegentropy target_negentropy(const Target& q, double alpha) {
  return {-tsallis_entropy(q, alpha), negentropy_order_derivative(q, alpha)};
}

}  // namespace fenchel::detail
