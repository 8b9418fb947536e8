#pragma once

/// The concept `Predictable`, `predict` for `Shannon`, and a deleted `predict` for all other triples.

#include <concepts>

#include "fenchel/regularizer/shannon.hpp"
#include "fenchel/regularizer/tsallis.hpp"

namespace fenchel {

/// The regularized prediction map argmax_p E_p[f] - Omega(p) over distributions p on the domain S is an
/// overload set predict(omega, f, S): the three types choose the type of the result. This overload stands for
/// all triples that mean nothing; a call that ends here has named a regularizer, a score and a domain that do
/// not go together.
template <class Omega, class Score, class Domain>
void predict(const Omega& omega, const Score& score, const Domain& domain) = delete;

/// A triple for which there is a prediction.
template <class Omega, class Score, class Domain>
concept Predictable = requires(const Omega& omega, const Score& score, const Domain& domain) {
  predict(omega, score, domain);
};

/// Shannon is Tsallis at alpha = 1.
template <std::same_as<Shannon> Omega, class Score, class Domain>
requires Predictable<Tsallis, Score, Domain>
[[nodiscard]] auto predict(const Omega& omega, const Score& score, const Domain& domain) {
  return predict(Tsallis(omega), score, domain);
}

}  // namespace fenchel
