#pragma once

/// `Loss`: a value and its gradient, whose parts have names.

namespace fenchel {

/// A loss and its derivatives with respect to the parameters of score and regularizer, a struct that names
/// them.
template <class Gradient>
struct Loss {
  double value;
  Gradient gradient;
};

/// The Fenchel-Young loss Omega*(f) + Omega(q) - E_q[f] and the cross-Omega loss Omega*(f) - E_q[f] [SCD22,
/// Section 3.1] for a target that knows its domain: overloads fenchel_young(omega, f, domain, q) do the work.
template <class Omega, class Score, class Target>
requires requires(const Omega& omega, const Score& f, const Target& q) {
  fenchel_young(omega, f, domain(q), q);
}
[[nodiscard]] auto fenchel_young(const Omega& omega, const Score& f, const Target& q) {
  return fenchel_young(omega, f, domain(q), q);
}

template <class Omega, class Score, class Target>
requires requires(const Omega& omega, const Score& f, const Target& q) {
  cross_omega(omega, f, domain(q), q);
}
[[nodiscard]] auto cross_omega(const Omega& omega, const Score& f, const Target& q) {
  return cross_omega(omega, f, domain(q), q);
}

}  // namespace fenchel
