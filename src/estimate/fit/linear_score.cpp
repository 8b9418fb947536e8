#include "fenchel/estimate/fit/linear_score.hpp"

#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>
#include <utility>

#include "estimate/fit/checks.hpp"
#include "estimate/regression/converged.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/estimate/regression/minimize.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/score/function_score.hpp"
#include "score/factorizations.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_linear_score";
/// Of the score: searches that converge take 1e6, those for data at both ends of an interval up to 2e7.
constexpr index_t kMostEvaluations = 30'000'000;

/// psi = factor (phi - mean): its covariance in the data is the identity, by the method of Gram and Schmidt;
/// what is a combination of others in the data is only scaled, by its mean where its variance is 0.
Eigen::MatrixXd whitening(const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance) {
  constexpr double kDependent = 1e-10;
  const index_t size = covariance.rows();
  Eigen::MatrixXd factor = Eigen::MatrixXd::Identity(size, size);
  for (index_t i = 0; i < size; ++i) {
    Eigen::RowVectorXd row = factor.row(i);
    for (index_t k = 0; k < i; ++k) row -= (row * covariance).dot(factor.row(k)) * factor.row(k);
    const double left = (row * covariance).dot(row);
    const bool independent = left > kDependent * covariance(i, i);
    const double square = independent ? left : covariance(i, i);
    const double size_of_mean = mean[i] == 0 ? 1 : std::abs(mean[i]);
    factor.row(i) =
        (independent ? row : factor.row(i).eval()) / (square > 0 ? std::sqrt(square) : size_of_mean);
  }
  return factor;
}

/// The loss in eta for f = eta . psi = theta . (phi - mean), theta = factor^T eta.
struct Standardised {
  Tsallis omega;
  Interval domain;
  std::vector<LinearScore::Statistic> phi;
  Eigen::VectorXd mean;
  Eigen::MatrixXd factor;
  std::vector<LinearScore::Statistic> psi = {};
  mutable index_t evaluations = 0;  ///< of f, in all predictions

  [[nodiscard]] index_t size() const { return mean.size(); }
  /// w . (phi(t) - mean).
  [[nodiscard]] LinearScore::Statistic combination(const Eigen::VectorXd& w) const {
    return [phi = phi, mean = mean, w](double t) {
      double sum = 0;
      for (index_t k = 0; k < w.size(); ++k)
        if (w[k] != 0) sum += w[k] * (phi[static_cast<std::size_t>(k)](t) - mean[k]);
      return sum;
    };
  }
  void make_psi() {
    for (index_t i = 0; i < size(); ++i) psi.push_back(combination(factor.row(i)));
  }
  [[nodiscard]] Eigen::VectorXd theta(const Eigen::VectorXd& eta) const { return factor.transpose() * eta; }
  [[nodiscard]] SecondOrder at(const Eigen::VectorXd& eta) const {
    const LinearScore::Statistic f = [this, score = combination(theta(eta))](double t) {
      ++evaluations;
      return score(t);
    };
    const auto p = detail::predict_numeric(omega, f, domain, detail::kNumericAccuracy);
    SecondOrder result{detail::conjugate(omega, p, f), Eigen::VectorXd(size()), {}};
    for (index_t i = 0; i < size(); ++i)
      result.gradient[i] = expectation(p.density, psi[static_cast<std::size_t>(i)]);
    result.hessian = beta_covariance(p.density, 2 - omega.alpha(), psi, psi);
    return result;
  }
  /// +infinity where there is no prediction, or none that can be resolved, or there were many that are hard.
  [[nodiscard]] SecondOrder operator()(const Eigen::VectorXd& eta) const {
    try {
      if (evaluations < kMostEvaluations) return at(eta);
    } catch (const std::domain_error&) {
    } catch (const ConvergenceError&) {
    }
    return {kInfinity, Eigen::VectorXd::Constant(size(), kInfinity), Eigen::MatrixXd::Zero(size(), size())};
  }
};

/// 0 or the sum of all psi, with either sign, that have a prediction alone: where the loss is less.
Eigen::VectorXd find_start(const Standardised& problem) {
  std::exception_ptr unresolved;
  const auto loss = [&](const Eigen::VectorXd& eta) {
    try {
      return problem.at(eta).value;
    } catch (const std::domain_error&) {
    } catch (const ConvergenceError&) {
      unresolved = std::current_exception();
    }
    return kInfinity;
  };
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(problem.size());
  Eigen::VectorXd sum = zero;
  for (index_t i = 0; i < problem.size(); ++i) {
    for (const double sign : {-1.0, 1.0}) {
      if (sum[i] == 0 && loss(sign * Eigen::VectorXd::Unit(problem.size(), i)) < kInfinity) sum[i] = sign;
    }
  }
  const double at_zero = loss(zero), at_sum = loss(sum);
  if (at_zero < kInfinity || at_sum < kInfinity) return at_zero < at_sum ? zero : sum;
  if (unresolved) std::rethrow_exception(unresolved);
  throw std::domain_error(error_message(kWhere, "start",
                                        "must be given where theta = 0 and single phi have no density",
                                        std::string_view("none")));
}

/// PhiMoments of data that must lie in an interval.
class MomentsInside {
 public:
  MomentsInside(std::vector<LinearScore::Statistic> phi, const Interval& domain)
      : domain_(domain), moments_(std::move(phi)) {}

  void update(Rows<const double> rows, PerRow weights) {
    for (index_t i = 0; i < rows.rows && rows.cols == 1; ++i) {
      const double t = rows[i][0];
      if (weights[i] != 0 && !domain_.contains(t))
        throw BadEntry(kWhere, "t",
                       "must be in [" + shortest(domain_.lower()) + ", " + shortest(domain_.upper()) + "]", i,
                       0, t);
    }
    moments_.update(rows, weights);
  }
  void merge(const MomentsInside& other) { moments_.merge(other.moments_); }
  [[nodiscard]] Bytes to_bytes() const { return moments_.to_bytes(); }
  void merge_bytes(std::span<const std::byte> bytes) { moments_.merge_bytes(bytes); }
  [[nodiscard]] const PhiMoments& moments() const noexcept { return moments_; }

 private:
  Interval domain_;
  PhiMoments moments_;
};

/// The covariance of psi under p, NaN where it does not exist.
Eigen::MatrixXd covariance_or_nan(const NumericDensity& p, Callables psi) {
  try {
    return beta_covariance(p, 1, psi, psi);
  } catch (const std::domain_error&) {
  } catch (const ConvergenceError&) {
  }
  const auto size = static_cast<index_t>(psi.size());
  return Eigen::MatrixXd::Constant(size, size, std::numeric_limits<double>::quiet_NaN());
}

/// The inverse of a Hessian; throws std::domain_error for a singular one.
Eigen::MatrixXd checked_inverse(const Eigen::MatrixXd& hessian) {
  constexpr double kSingular = 1e-9;  // about ten times the error of the Hessian's entries
  const Eigen::VectorXd root = hessian.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = root.asDiagonal() * hessian * root.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> correlation(scaled);
  const double least = correlation.eigenvalues().minCoeff();
  if (!(least > kSingular))
    throw std::domain_error(error_message(
        kWhere, "phi", "must not be collinear under the density that they fit: theta is not unique",
        std::string_view("a least eigenvalue of their correlations below " + shortest(kSingular))));
  return root.asDiagonal() * correlation.eigenvectors() *
         correlation.eigenvalues().cwiseInverse().asDiagonal() * correlation.eigenvectors().transpose() *
         root.asDiagonal();
}

void check_size(std::string_view what, std::size_t size, std::size_t wanted) {
  if (size != wanted)
    throw_invalid_argument(kWhere, what, "must have one entry for each of " + std::to_string(wanted) + " phi",
                           static_cast<index_t>(size));
}

}  // namespace

Fit<NumericDensity> fit_linear_score(double alpha, std::vector<LinearScore::Statistic> phi,
                                     const Interval& domain, const PhiMoments& moments,
                                     const std::vector<double>& start) {
  const std::size_t size = phi.size();
  if (size == 0) throw_invalid_argument(kWhere, "phi", "must not be empty", index_t{0});
  check_size("moments", static_cast<std::size_t>(moments.mean().size()), size);
  if (!start.empty()) check_size("start", start.size(), size);
  if (std::isinf(alpha)) throw_domain_error(kWhere, "alpha", "must be finite", alpha);
  if (!(domain.lower() < domain.upper()))
    throw_domain_error(kWhere, "domain.upper()", "must be above lower = " + shortest(domain.lower()),
                       domain.upper());
  detail::check_total_weight(kWhere, moments.weight());

  Standardised problem{Tsallis(alpha), domain, std::move(phi), moments.mean(),
                       whitening(moments.mean(), moments.covariance())};
  problem.make_psi();
  Eigen::VectorXd from;
  if (start.empty()) {
    from = find_start(problem);
  } else {
    const Eigen::Map<const Eigen::VectorXd> theta(start.data(), static_cast<index_t>(size));
    from = problem.factor.transpose().triangularView<Eigen::Upper>().solve(theta);
    static_cast<void>(problem.at(from));  // throws what keeps it from being one
  }
  MinimizeOptions options;
  options.max_iterations = 60;
  options.tolerance = 1e-10;
  const Minimum found = minimize_convex(problem, from, options);
  detail::check_converged(kWhere, found, 1e-8,
                          " (means of phi that no density of the family has move theta without end)");

  const Eigen::VectorXd theta = problem.theta(found.x);
  NumericDensity p = predict(problem.omega, FunctionScore(problem.combination(theta)), domain);
  const Eigen::MatrixXd inverse = checked_inverse(beta_covariance(p, 2 - alpha, problem.psi, problem.psi));
  const Eigen::MatrixXd spread = problem.factor.transpose() * inverse;
  const Eigen::MatrixXd covariance = spread * covariance_or_nan(p, problem.psi) * spread.transpose();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < size; ++i) names.push_back(indexed("theta", static_cast<index_t>(i)));
  return {std::move(p), std::move(names), theta, covariance / moments.weight(),
          found.value,  moments.weight()};
}

Fit<NumericDensity> fit_linear_score(double alpha, std::vector<LinearScore::Statistic> phi, Line,
                                     const PhiMoments& moments, const std::vector<double>& start) {
  return fit_linear_score(alpha, std::move(phi), Interval(-kInfinity, kInfinity), moments, start);
}

Fit<NumericDensity> fit_linear_score(double alpha, std::vector<LinearScore::Statistic> phi,
                                     const Interval& domain, const Data& data,
                                     const std::vector<double>& start) {
  const PhiMoments moments = collect(data, MomentsInside(phi, domain)).moments();
  return fit_linear_score(alpha, std::move(phi), domain, moments, start);
}

}  // namespace fenchel
