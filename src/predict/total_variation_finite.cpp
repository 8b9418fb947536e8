#include "fenchel/predict/total_variation_finite.hpp"

#include <cmath>
#include <utility>

#include "fenchel/core/taut_string.hpp"
#include "fenchel/predict/finite.hpp"

namespace fenchel {
namespace {

Tsallis sparse(const TotalVariation& omega) { return Tsallis(2, omega.temperature()); }

/// The taut string through neighbours none of which is masked; masks beside them pull them down.
void fuse_run(std::span<const std::size_t> atoms, double cap, bool masked_before, bool masked_after,
              const Finite& domain, std::vector<double>& scores) {
  std::vector<double> y, weights;
  for (const std::size_t i : atoms) {
    y.push_back(scores[i]);
    weights.push_back(domain.weight(i));
  }
  if (masked_before) y.front() -= cap / weights.front();
  if (masked_after) y.back() -= cap / weights.back();
  const std::vector<double> x = taut_string(y, std::vector<double>(y.size() - 1, cap), weights);
  for (std::size_t k = 0; k < atoms.size(); ++k) scores[atoms[k]] = x[k];
}

}  // namespace

FusedScores fuse(const TotalVariation& omega, const VectorScore& f, const Finite& domain) {
  detail::check_weights(f, domain);
  const double cap = omega.temperature() * omega.gamma();
  std::vector<double> x(f.values().begin(), f.values().end());
  std::vector<std::size_t> atoms;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (domain.weight(i) > 0) atoms.push_back(i);
  }
  const auto masked = [&](std::size_t k) { return std::isinf(f.values()[atoms[k]]); };
  for (std::size_t begin = 0; begin < atoms.size(); ++begin) {
    if (masked(begin)) continue;
    std::size_t end = begin;
    while (end < atoms.size() && !masked(end)) ++end;
    fuse_run({atoms.data() + begin, end - begin}, cap, begin > 0, end < atoms.size(), domain, x);
    begin = end;
  }
  std::vector<double> string;
  double sum = 0;
  for (std::size_t k = 0; k + 1 < atoms.size(); ++k) {
    const double here = x[atoms[k]], next = x[atoms[k + 1]];
    if (!masked(k)) sum += domain.weight(atoms[k]) * (here - f.values()[atoms[k]]);
    if (here != next) sum = next > here ? cap : -cap;
    string.push_back(sum);
  }
  return {VectorScore(std::move(x)), std::move(string), std::move(atoms)};
}

SparseCategorical predict(const TotalVariation& omega, const VectorScore& f, const Finite& domain) {
  return predict(sparse(omega), fuse(omega, f, domain).scores, domain);
}

double conjugate(const TotalVariation& omega, const VectorScore& f, const Finite& domain) {
  return conjugate(sparse(omega), fuse(omega, f, domain).scores, domain);
}

}  // namespace fenchel
