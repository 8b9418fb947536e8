#include "fenchel/predict/multivariate_function.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/tools/roots.hpp>

#include "distribution/euclidean/landscape.hpp"
#include "distribution/euclidean/level_cubature.hpp"
#include "distribution/euclidean/multivariate_numeric_table.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"
#include "predict/numeric/peaked.hpp"

namespace fenchel::detail {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

/// A density that is e^-kDepth of its peak counts as 0.
constexpr double kDepth = 300;
/// Below this am1 a region is larger than the bulk of the density, and its frame is stretched.
constexpr double kStretched = 0.02;
/// Stands for the logarithm of a mass that is infinite.
constexpr double kLargest = 700;
constexpr double kRough = 1e-3;

/// The solver's unknown x is the logarithm of the peak, or from am1 = 1 on that of the height of the support
/// below the top, on which the mass depends when alpha is large.
Peaked shape_of(double am1, double x) {
  if (std::isinf(am1)) return {am1, 0, std::exp(x)};
  return am1 < 1 ? Peaked{am1, x} : Peaked{am1, (x + std::log(am1)) / am1};
}

/// How far below the top the density is more than e^-depth of its peak.
double reach(const Peaked& shape, double depth) {
  if (std::isinf(shape.am1)) return shape.height();
  return std::min(shape.height(), -deformed_log_of_exp(shape.am1, -depth) / shape.steepness());
}

class Predictor {
 public:
  Predictor(const Tsallis& omega, std::shared_ptr<const Landscape> landscape)
      : omega_(omega), am1_(omega.alpha() - 1), landscape_(std::move(landscape)) {}

  [[nodiscard]] std::optional<LevelRegion> region(const Peaked& shape, double depth) const {
    return landscape_->region([f = landscape_](const MatrixXd& t) { return (*f)(t); }, reach(shape, depth),
                              am1_ < kStretched);
  }
  [[nodiscard]] double exponent() const { return am1_ > 0 ? 1 / am1_ : 0; }

  /// The logarithm of the mass, kLargest where there is none, and 0 within `accuracy` of it.
  [[nodiscard]] double log_mass(double x, double accuracy) const {
    const Peaked shape = shape_of(am1_, x);
    const std::optional<LevelRegion> found = region(shape, kDepth);
    if (!found) return kLargest;
    const double c = shape.steepness();
    const auto relative = [&](const MatrixXd& t, const VectorXd& g) {
      MatrixXd values(1, t.cols());
      for (Index i = 0; i < t.cols(); ++i)
        values(0, i) = std::exp(shape.log_density(g[i], c) - shape.log_peak);
      return values;
    };
    const double sum = LevelCubature(*found, relative, exponent(), accuracy).whole().value[0];
    const double log_sum = shape.log_peak + std::log(sum);
    return std::abs(log_sum) < accuracy ? 0 : std::clamp(log_sum, -kLargest, kLargest);
  }

  /// The x of mass one near `start`. The logarithm of the mass falls at least as fast as x.
  [[nodiscard]] double solve(double start, double accuracy) const {
    constexpr double kFarthest = 600, kMore = 1.1;
    double best = start, at_best = kInfinity;
    const auto value = [&](double x) {
      const double found = log_mass(x, accuracy);
      if (std::abs(found) < std::abs(at_best)) {
        best = x;
        at_best = found;
      }
      return found;
    };
    double lower = start, upper = start, at_lower = value(start), at_upper = at_lower;
    for (double step = 0; at_lower > 0;) {
      if (lower < -kFarthest) throw_no_distribution(kInfinity);
      upper = lower;
      at_upper = at_lower;
      step = std::max(2 * step, std::min(kMore * at_lower, 1.0));
      at_lower = value(lower -= step);
    }
    for (double step = 0; at_upper < 0;) {
      if (upper > kFarthest) throw_no_distribution(std::exp(at_upper));
      lower = upper;
      at_lower = at_upper;
      step = std::max(2 * step, std::min(-kMore * at_upper, 1.0));
      at_upper = value(upper += step);
    }
    if (at_best == 0) return best;
    std::uintmax_t iterations = 100;
    const auto close = [](double a, double b) {
      return std::abs(b - a) <= 1e-14 * std::max(1.0, std::abs(a));
    };
    (void)boost::math::tools::toms748_solve(value, lower, upper, at_lower, at_upper, close, iterations);
    if (at_best == 0) return best;
    if (std::abs(at_best) > kRough && at_upper == kLargest) throw_no_distribution(std::exp(at_best));
    if (std::abs(at_best) > kRough && std::isinf(am1_))
      throw_domain_error("predict", "the volume of where f is high",
                         "must be 1 for infinite alpha: no prediction is the only one where f is constant",
                         std::exp(at_best));
    if (!(std::abs(at_best) <= 10 * accuracy))
      throw ConvergenceError(error_message("predict", "the relative error of the mass",
                                           "must reach " + shortest(accuracy), std::abs(at_best)));
    return best;
  }

  [[noreturn]] void throw_no_distribution(double got) const {
    throw_domain_error("predict",
                       "the mass of exp_{2-alpha}((f - A) / T), alpha = " + shortest(omega_.alpha()) + ",",
                       "must be 1 for some A: no distribution exists where f does not fall enough", got);
  }

 private:
  Tsallis omega_;
  double am1_;
  std::shared_ptr<const Landscape> landscape_;
};

/// All that is in the region, where it has an end.
Box bounds_of(const LevelRegion& region, const Landscape& landscape, bool bounded) {
  const Box& domain = landscape.domain();
  if (!bounded) return domain;
  const Index n = region.dimension();
  VectorXd lower = VectorXd::Constant(n, kInfinity), upper = -lower;
  for (int corner = 0; corner < (1 << n); ++corner) {
    VectorXd u(n);
    for (Index i = 0; i < n; ++i) u[i] = (corner >> i) % 2 == 0 ? region.lower[i] : region.upper[i];
    const VectorXd t = region.frame.points(u);
    lower = lower.cwiseMin(t);
    upper = upper.cwiseMax(t);
  }
  return {lower.cwiseMax(domain.lower()), upper.cwiseMin(domain.upper())};
}

}  // namespace

MultivariateNumericPrediction predict_numeric(const Tsallis& omega, const MultivariateFunctionScore& f,
                                              const Box& domain, double accuracy) {
  constexpr int kLooks = 3;
  const index_t n = domain.dimension();
  if (n != 2 && n != 3)
    throw_invalid_argument("predict", "the dimension of any score",
                           n == 1 ? "must be 2 or 3: on the line take a FunctionScore"
                                  : "must be 2 or 3: quadratic scores have closed forms in every dimension",
                           n);
  checked_positive("predict", "accuracy", accuracy);
  const double am1 = omega.alpha() - 1, volume = (domain.upper() - domain.lower()).prod();
  if (std::isinf(am1) && volume < 1)
    throw_domain_error("predict", "the volume of the domain", "must be at least 1 for infinite alpha",
                       volume);
  auto landscape = std::make_shared<Landscape>(f.batch(), domain, omega.temperature());
  double start = std::log(landscape->unit_volume() * std::numbers::pi);
  start *= am1 < 1 ? -1 : -2 / static_cast<double>(n);
  for (int look = 0;; ++look) {
    const Predictor predictor(omega, landscape);
    start = predictor.solve(start, std::max(kRough, accuracy));
    const double x = accuracy < kRough ? predictor.solve(start, accuracy / 2) : start;
    const Peaked shape = shape_of(am1, x);
    std::optional<LevelRegion> region = predictor.region(shape, kDepth);
    if (!region) predictor.throw_no_distribution(kInfinity);
    if (look < kLooks) {
      auto closer = std::make_shared<Landscape>(*landscape);
      if (closer->look_closer(*region)) {
        landscape = std::move(closer);
        continue;
      }
    }
    const bool stretched = region->frame.stretched;
    std::vector<VectorXd> modes;
    for (const VectorXd& at : landscape->maxima())
      if ((*landscape)(at)[0] >= -region->height) modes.push_back(at);
    std::sort(modes.begin(), modes.end(),
              [&](const VectorXd& a, const VectorXd& b) { return (*landscape)(a)[0] > (*landscape)(b)[0]; });
    const double c = shape.steepness();
    MultivariateNumericDensity::Table table{*region,
                                            stretched ? predictor.region(shape, kDepth / 2) : std::nullopt,
                                            bounds_of(*region, *landscape, am1 > 0 && !stretched),
                                            [shape, c](double g) { return shape.log_density(g, c); },
                                            predictor.exponent(),
                                            accuracy,
                                            std::move(modes)};
    if (table.nearer) {
      const auto one = [](const MatrixXd& t, const VectorXd&) {
        return MatrixXd(MatrixXd::Ones(1, t.cols()));
      };
      if (!table.is_finite(1, one)) predictor.throw_no_distribution(kInfinity);
      if (am1 < 0 && !table.is_finite(omega.alpha(), one))
        throw_domain_error("predict", "alpha", "must be larger for E_p[f] to be finite in the tails of f",
                           omega.alpha());
    }
    return {make_density(std::move(table), "predict"), landscape->top(), shape.offset()};
  }
}

double conjugate(const Tsallis& omega, const MultivariateNumericPrediction& p,
                 const MultivariateFunctionScore& f) {
  const auto above = [&](const MatrixXd& t) { return VectorXd(f.batch()(t).array() - p.top); };
  const double mean = fenchel::expectation(p.density, above), share = 1 / omega.alpha();
  return p.top + ((1 - share) * mean + share * omega.temperature() * p.offset);
}

}  // namespace fenchel::detail
