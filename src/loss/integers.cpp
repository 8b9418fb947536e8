#include "fenchel/loss/integers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/distribution/escort.hpp"
#include "loss/integer_sums.hpp"

namespace fenchel {

IntegerTarget::IntegerTarget(Sample sample) {
  if (sample.values.empty())
    throw_invalid_argument("integer_target", "the sample", "must not be empty", index_t{0});
  std::vector<index_t> sorted(sample.values.begin(), sample.values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto total = static_cast<double>(sorted.size());
  for (auto run = sorted.begin(); run != sorted.end();) {
    const auto end = std::upper_bound(run, sorted.end(), *run);
    atoms_.push_back({*run, static_cast<double>(end - run) / total});
    run = end;
  }
}

IntegerTarget::IntegerTarget(std::span<const index_t> sample, std::span<const double> weights) {
  if (weights.size() != sample.size())
    throw_invalid_argument("integer_target", "weights", "must be one for each value", std::ssize(weights));
  std::map<index_t, double> table;
  double total = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (!(weights[i] >= 0))
      throw_domain_error("integer_target", "a weight", "must not be negative", weights[i]);
    if (weights[i] > 0) table[sample[i]] += weights[i];
    total += weights[i];
  }
  detail::checked_positive("integer_target", "the sum of the weights", total);
  for (const auto& [at, weight] : table) atoms_.push_back({at, weight / total});
}

IntegerTarget::IntegerTarget(Table table) {
  index_t t = table.values.first();
  for (const double p : table.values.probabilities()) {
    if (p > 0) atoms_.push_back({t, p});
    ++t;
  }
  tails_.assign(table.values.tails().begin(), table.values.tails().end());
}

namespace {

using Kind = detail::LossKind;

Loss<PoissonGradient> poisson_loss(Kind kind, const Tsallis& omega, const PoissonScore& f,
                                   const IntegerTarget& q) {
  const index_t least = q.atoms().front().at;
  if (least < 0)
    throw_domain_error(kind == Kind::fenchel_young ? "fenchel_young" : "cross_omega",
                       "the smallest integer of the target", "must not be negative",
                       static_cast<double>(least));
  const SparsePoisson p = predict(omega, f, Naturals());
  const auto sums = detail::integer_loss_sums(kind, p.prediction(), q, static_cast<double>(mode(p)));
  const double temperature = omega.temperature();
  return {temperature * sums.value, {sums.first, temperature * sums.alpha}};
}

Loss<IntegerGaussianGradient> gaussian_loss(Kind kind, const Tsallis& omega, const QuadraticScore& f,
                                            const IntegerTarget& q) {
  const SparseIntegerGaussian p = predict(omega, f, Integers());
  const double temperature = omega.temperature(), sigma2 = f.sigma2();
  const double unit = std::max(1.0, std::sqrt(sigma2));  // so that no square overflows
  const auto sums = detail::integer_loss_sums(kind, p.prediction(), q, f.mu(), unit);
  return {temperature * sums.value,
          {sums.first / sigma2, sums.second * unit / sigma2 * unit / sigma2 / 2, temperature * sums.alpha}};
}

/// cov_{p, 2-alpha} / T of (x, x^2), x = t - mode, under the prediction p; of degree 1 of x alone.
std::array<double, 4> covariance_about_mode(const Tsallis& omega, const IntegerTable& p, int degree) {
  if (std::isinf(omega.alpha()))
    throw_domain_error("fenchel_young_hessian", "alpha", "must be finite", omega.alpha());
  if (!p.tails().empty()) {
    auto covariance = detail::heavy_covariance(p, 2 - omega.alpha(), degree);
    for (double& entry : covariance) entry /= omega.temperature();
    return covariance;
  }
  const auto size = static_cast<index_t>(p.probabilities().size());
  std::vector<double> features;
  features.reserve(2 * p.probabilities().size());
  for (index_t i = 0; i < size; ++i) {
    const auto x = static_cast<double>(p.first() + i - p.mode());
    features.push_back(x);
    features.push_back(x * x);
  }
  std::array<double, 4> covariance{};
  const Rows<const double> phi(features.data(), size, 2);
  beta_covariance(p.probabilities(), 2 - omega.alpha(), phi, phi, Rows<double>(covariance.data(), 2, 2));
  for (double& entry : covariance) entry /= omega.temperature();
  return covariance;
}

}  // namespace

Loss<PoissonGradient> fenchel_young(const Tsallis& omega, const PoissonScore& f, Naturals,
                                    const IntegerTarget& q) {
  return poisson_loss(Kind::fenchel_young, omega, f, q);
}

Loss<IntegerGaussianGradient> fenchel_young(const Tsallis& omega, const QuadraticScore& f, Integers,
                                            const IntegerTarget& q) {
  return gaussian_loss(Kind::fenchel_young, omega, f, q);
}

Loss<PoissonGradient> cross_omega(const Tsallis& omega, const PoissonScore& f, Naturals,
                                  const IntegerTarget& q) {
  return poisson_loss(Kind::cross_omega, omega, f, q);
}

Loss<IntegerGaussianGradient> cross_omega(const Tsallis& omega, const QuadraticScore& f, Integers,
                                          const IntegerTarget& q) {
  return gaussian_loss(Kind::cross_omega, omega, f, q);
}

double fenchel_young_hessian(const Tsallis& omega, const PoissonScore& f, Naturals domain) {
  return covariance_about_mode(omega, predict(omega, f, domain).table(), 1)[0];
}

std::array<std::array<double, 2>, 2> fenchel_young_hessian(const Tsallis& omega, const QuadraticScore& f,
                                                           Integers domain) {
  const SparseIntegerGaussian p = predict(omega, f, domain);
  const auto c = covariance_about_mode(omega, p.table(), 2);
  const auto m = static_cast<double>(mode(p));  // t^2 = x^2 + 2 m x + m^2
  const double mixed = c[1] + 2 * m * c[0];
  return {{{c[0], mixed}, {mixed, c[3] + 4 * m * c[1] + 4 * m * m * c[0]}}};
}

}  // namespace fenchel
