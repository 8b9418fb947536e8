#include "fenchel/predict/sobolev_finite.hpp"

#include <algorithm>

#include "core/scratch.hpp"
#include "core/sobolev_chain.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/predict/finite.hpp"

namespace fenchel {

SobolevDensity predict_density(const Sobolev& omega, const VectorScore& f, const Finite& domain) {
  detail::check_weights(f, domain);
  std::vector<std::size_t> atoms;  // those that exist
  double top = -kInfinity;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (domain.weight(i) == 0) continue;
    atoms.push_back(i);
    top = std::max(top, f.values()[i]);
  }
  if (top == -kInfinity)
    throw_domain_error("predict", "the largest score of positive weight", "must be finite", top);

  const auto n = static_cast<index_t>(atoms.size());
  const detail::Scratch memory(1, detail::SobolevChain::bytes(n));
  auto part = memory.of(0);
  detail::SobolevChain chain(part, n);
  const auto atom = [&](index_t k) { return atoms[static_cast<std::size_t>(k)]; };
  chain.reset(
      n, [&](index_t k) { return domain.weight(atom(k)); }, [&](index_t) { return omega.gamma(); });
  for (index_t k = 0; k < n; ++k) chain.values()[k] = (f.values()[atom(k)] - top) / omega.temperature();
  const double tau = chain.predict();

  SobolevDensity p{std::vector<double>(f.size()), std::vector<double>(f.size(), kInfinity), top,
                   omega.temperature() * tau};
  for (index_t k = 0; k < n; ++k) {
    p.density[atom(k)] = chain.result()[k];
    p.slack[atom(k)] = chain.slack(tau, k);
  }
  return p;
}

SparseCategorical predict(const Sobolev& omega, const VectorScore& f, const Finite& domain) {
  std::vector<double> probabilities = predict_density(omega, f, domain).density;
  for (std::size_t i = 0; i < f.size(); ++i) probabilities[i] *= domain.weight(i);
  return SparseCategorical(probabilities);
}

double conjugate(const Sobolev& omega, const VectorScore& f, const Finite& domain) {
  const SobolevDensity p = predict_density(omega, f, domain);
  double mean = 0;  // of f - top
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (p.density[i] > 0) mean += domain.weight(i) * p.density[i] * (f.values()[i] - p.top);
  }
  return p.top + (mean + p.threshold_offset + omega.temperature()) / 2;
}

}  // namespace fenchel
