#include "fenchel/distribution/euclidean/multivariate_numeric_density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "distribution/euclidean/multivariate_numeric_table.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

using detail::AxisSum, detail::LevelCubature, detail::LevelRegion;
using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTails = 1e-4;  // what tails that are finite may hold beyond the nearer region

MatrixXd ones(const MatrixXd& t, const VectorXd&) { return MatrixXd::Ones(1, t.cols()); }

AxisSum integrate_over(const LevelRegion& region, const MultivariateNumericDensity::Table& table,
                       double power, LevelCubature::Integrand f, double to) {
  const auto weighted = [&](const MatrixXd& t, const VectorXd& g) {
    MatrixXd values = f(t, g);
    for (Index i = 0; i < g.size(); ++i) values.col(i) *= std::exp(power * table.log_density(g[i]));
    return values;
  };
  LevelCubature cubature(region, weighted, power * table.exponent, to);
  AxisSum sum = cubature.whole();
  if (cubature.is_cut()) sum.error = kInfinity;
  return sum;
}

void check_converged(const char* where, const AxisSum& sum, double accuracy) {
  const double error = sum.error + sum.inner;
  if (!(error <= 4 * accuracy * sum.scale))
    throw ConvergenceError(error_message(where, "the estimated relative error",
                                         "must reach " + shortest(accuracy), error / sum.scale));
}

}  // namespace

AxisSum MultivariateNumericDensity::Table::integrate(double power, LevelCubature::Integrand f,
                                                     double to) const {
  return integrate_over(region, *this, power, f, to);
}

bool MultivariateNumericDensity::Table::is_finite(double power, LevelCubature::Integrand f) const {
  if (!nearer) return true;
  const auto absolute = [&](const MatrixXd& t, const VectorXd& g) { return MatrixXd(f(t, g).cwiseAbs()); };
  const VectorXd all = integrate_over(region, *this, power, absolute, 0.1 * kTails).value;
  const VectorXd less = integrate_over(*nearer, *this, power, absolute, 0.1 * kTails).value;
  return ((all - less).array() <= kTails * all.array()).all();
}

MultivariateNumericDensity detail::make_density(MultivariateNumericDensity::Table table, const char* where) {
  table.first = table.integrate(1, ones, table.accuracy);
  const double mass = table.first.value[0];
  check_converged(where, table.first, table.accuracy);
  const double other = integrate_over(table.region.rotated(), table, 1, ones, table.accuracy).value[0];
  if (!(std::abs(other / mass - 1) <= 4 * table.accuracy))
    throw ConvergenceError(
        error_message(where, "the relative difference of the masses by two orders of the axes",
                      "must be at most " + shortest(4 * table.accuracy), std::abs(other / mass - 1)));
  table.log_density = [shape = std::move(table.log_density), log_mass = std::log(mass)](double g) {
    return shape(g) - log_mass;
  };
  return MultivariateNumericDensity(
      std::make_shared<const MultivariateNumericDensity::Table>(std::move(table)));
}

index_t MultivariateNumericDensity::dimension() const noexcept { return table_->region.dimension(); }
const std::vector<VectorXd>& MultivariateNumericDensity::modes() const noexcept { return table_->modes; }
double MultivariateNumericDensity::accuracy() const noexcept { return table_->accuracy; }

Euclidean domain(const MultivariateNumericDensity& p) { return Euclidean(p.dimension()); }

LevelSupport support(const MultivariateNumericDensity& p) {
  return {p.table().bounds, [p](const VectorXd& t) { return log_pdf(p, t) > -kInfinity; }};
}

VectorXd log_pdf_at(const MultivariateNumericDensity& p, const MatrixXd& points) {
  if (points.rows() != p.dimension())
    throw_invalid_argument("log_pdf", "points", "must have " + shortest(p.dimension()) + " rows",
                           static_cast<index_t>(points.rows()));
  // NaN gives NaN, and infinity is in no support.
  std::vector<Index> finite;
  for (Index i = 0; i < points.cols(); ++i)
    if (points.col(i).allFinite()) finite.push_back(i);
  VectorXd values(points.cols());
  for (Index i = 0; i < points.cols(); ++i) values[i] = points.col(i).hasNaN() ? kNaN : -kInfinity;
  if (finite.empty()) return values;
  const VectorXd g = p.table().region.g(points(Eigen::all, finite));
  const double cut = p.table().nearer ? kInfinity : p.table().region.height;
  for (std::size_t i = 0; i < finite.size(); ++i) {
    const double at = g[static_cast<Index>(i)];
    values[finite[i]] = at >= -cut && at > -kInfinity ? p.table().log_density(at) : -kInfinity;
  }
  return values;
}
double log_pdf(const MultivariateNumericDensity& p, const Eigen::Ref<const VectorXd>& t) {
  return log_pdf_at(p, t)[0];
}
double pdf(const MultivariateNumericDensity& p, const Eigen::Ref<const VectorXd>& t) {
  return std::exp(log_pdf(p, t));
}

VectorXd mode(const MultivariateNumericDensity& p) { return p.modes().front(); }

namespace {

struct Moments {
  VectorXd first;
  MatrixXd second;
};

/// E z and E z z^T for z = basis^-1 (t - centre); the second where it is asked for.
Moments moments_about(const MultivariateNumericDensity& p, const VectorXd& centre, bool second) {
  const auto& table = p.table();
  const Index n = p.dimension();
  detail::Frame frame{centre, table.region.frame.basis};
  const auto products = [&](const MatrixXd& t, const VectorXd&) {
    const MatrixXd z = t.cols() > 0 ? frame.coordinates(t) : t;
    MatrixXd values(second ? n + n * (n + 1) / 2 : n, t.cols());
    values.topRows(n) = z;
    Index row = n;
    for (Index i = 0; i < n && second; ++i)
      for (Index j = 0; j <= i; ++j) values.row(row++) = z.row(i).cwiseProduct(z.row(j));
    return values;
  };
  const AxisSum sum = table.integrate(1, products, p.accuracy());
  const bool finite = table.is_finite(1, products);
  Moments found{sum.value.head(n), MatrixXd(n, n)};
  Index row = n;
  for (Index i = 0; i < n && second; ++i)
    for (Index j = 0; j <= i; ++j) found.second(i, j) = found.second(j, i) = sum.value[row++];
  if (!finite) {
    found.first.setConstant(kNaN);
    found.second.setConstant(kInfinity);
  }
  return found;
}

}  // namespace

VectorXd mean(const MultivariateNumericDensity& p) {
  const auto& frame = p.table().region.frame;
  const VectorXd z = moments_about(p, frame.centre, false).first;
  return z.hasNaN() ? z : VectorXd(frame.centre + frame.basis * z);
}

MatrixXd covariance(const MultivariateNumericDensity& p) {
  const VectorXd about = mean(p);
  if (about.hasNaN()) return MatrixXd::Constant(p.dimension(), p.dimension(), kInfinity);
  const MatrixXd z = moments_about(p, about, true).second;
  const MatrixXd& basis = p.table().region.frame.basis;
  return z.allFinite() ? MatrixXd(basis * z * basis.transpose()) : z;
}

double entropy(const MultivariateNumericDensity& p) { return tsallis_entropy(p, 1); }

double tsallis_entropy(const MultivariateNumericDensity& p, double order) {
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  if (std::isinf(order)) return log_pdf(p, mode(p)) > 4 * p.accuracy() ? -kInfinity : 0;
  const double om1 = order - 1, lower = std::min(order, 1.0);
  // p log_{2-order}(p) over p^lower
  const auto rest = [&](const MatrixXd& t, const VectorXd& g) {
    MatrixXd values(1, t.cols());
    for (Index i = 0; i < t.cols(); ++i) {
      const double l = p.table().log_density(g[i]);
      values(0, i) = l == -kInfinity ? 0.0
                     : std::abs(om1 * l) < 1
                         ? std::exp((1 - lower) * l) * deformed_log_of_exp(om1, l)
                         : (std::exp((order - lower) * l) - std::exp((1 - lower) * l)) / om1;
    }
    return values;
  };
  const AxisSum sum = p.table().integrate(lower, rest, p.accuracy());
  if (!p.table().is_finite(lower, rest)) return kInfinity;
  check_converged("tsallis_entropy", sum, p.accuracy());
  return -sum.value[0] / order;
}

double negentropy_order_derivative(const MultivariateNumericDensity& p, double order) {
  if (std::isinf(order)) return 0;
  if (std::isinf(tsallis_entropy(p, order))) return kNaN;
  const double om1 = order - 1;
  const auto slope = [&](const MatrixXd& t, const VectorXd& g) {
    MatrixXd values(1, t.cols());
    for (Index i = 0; i < t.cols(); ++i) {
      const double l = p.table().log_density(g[i]);
      values(0, i) =
          l == -kInfinity
              ? 0
              : (deformed_log_alpha_derivative<1>(om1, l) - deformed_log_of_exp(om1, l) / order) / order;
    }
    return values;
  };
  return p.table().integrate(1, slope, p.accuracy()).value[0];
}

MultivariateNumericDensity escort(const MultivariateNumericDensity& p, double order) {
  detail::checked_finite("escort", "order", order);
  MultivariateNumericDensity::Table table = p.table();
  table.exponent *= order;
  if (table.exponent <= -1)
    throw_domain_error("escort", "order", "must be above " + shortest(-1 / p.table().exponent), order);
  if (!(order > 0) && table.nearer) throw_domain_error("escort", "order", "must be positive", order);
  table.log_density = [shape = table.log_density, order](double g) {
    return order == 0 ? 0 : order * shape(g);
  };
  if (!table.is_finite(1, ones))
    throw_domain_error("escort", "order", "must be larger for p^order to be integrable", order);
  return detail::make_density(std::move(table), "escort");
}

double detail::expectation(const MultivariateNumericDensity& p, FunctionRef<VectorXd(const MatrixXd&)> f,
                           double accuracy) {
  const double to = accuracy == 0 ? p.accuracy() : checked_positive("expectation", "accuracy", accuracy);
  const auto values = [&](const MatrixXd& t, const VectorXd&) {
    if (t.cols() == 0) return MatrixXd(1, 0);
    const VectorXd found = f(t);
    for (Index i = 0; i < found.size(); ++i)
      if (std::isnan(found[i])) throw_domain_error("expectation", "f", "must be a number", found[i]);
    return MatrixXd(found.transpose());
  };
  const AxisSum sum = p.table().integrate(1, values, to);
  if (sum.scale == 0) return 0;
  if (!p.table().is_finite(1, values))
    throw ConvergenceError(
        error_message("expectation", "the estimated relative error", "must reach the accuracy", kInfinity));
  check_converged("expectation", sum, to);
  return sum.value[0];
}

}  // namespace fenchel
