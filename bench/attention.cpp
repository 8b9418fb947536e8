/// Continuous attention in bulk: 65536 densities x 128 Gaussian functions on the line, and 4096 x 100 in the
/// plane. Densities are narrow or wide; functions are equally spaced, at the widths of the paper's audio and
/// image experiments, or irregular. Times are per pair of a density and a function, beside millions of pairs
/// a second; the baseline is the same row computed the plain way, by std::erf and std::exp from the closed
/// form of alpha = 2. Errors are the largest against adaptive quadrature (of r: relative to it; of
/// derivatives: relative to the largest of the row), over a few densities.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/core/variates.hpp"
#include "support/contest.hpp"

namespace {

using namespace fenchel;

constexpr index_t kChecked = 8;  // densities that are compared with quadrature

std::size_t size(index_t n) { return static_cast<std::size_t>(n); }

std::string label(const char* what, double alpha) {
  char number[32];
  std::snprintf(number, sizeof number, "%.9g", alpha);
  return std::string(what) + " " + number;
}

/// int p(t) g(t) psi_j(t) dt for p of the line.
template <class G>
double quadrature(double mu, double sigma2, double alpha, double mean, double width, const G& g) {
  const BetaGaussianConstants c = beta_gaussian_constants(1, alpha - 1, std::log(sigma2));
  const double half = alpha > 1 ? std::sqrt(c.radius2 * sigma2) : 1e3 * std::sqrt(sigma2);
  const auto f = [&](double t) {
    const double s = (t - mean) / width;
    return std::exp(log_density(c, (t - mu) * (t - mu) / sigma2) - s * s / 2) * g(t) /
           (width * std::sqrt(2 * std::numbers::pi));
  };
  double sum = 0, from = mu - half;
  for (const double cut : {std::min(mean, mu) - 9 * width, std::min(mean, mu), std::max(mean, mu),
                           std::max(mean, mu) + 9 * width, mu + half}) {
    const double to = std::clamp(cut, from, mu + half);
    if (to > from) sum += integrate(f, from, to, 1e-14).value;
    from = to;
  }
  return sum;
}

/// A batch of densities on R^D, and the contest between their rows.
template <class Real>
class Batch {
 protected:
  Batch(index_t rows, index_t dimension, index_t functions)
      : rows_(rows),
        dimension_(dimension),
        functions_(functions),
        mu_(size(rows * dimension)),
        scale_(size(rows * dimension * dimension)),
        d_mu_(mu_.size()),
        d_scale_(scale_.size()),
        r_(size(rows * functions)),
        cotangent_(r_.size(), Real(1)) {}

  [[nodiscard]] cpu::Densities<Real> densities(double alpha) const {
    return {alpha, {mu_.data(), rows_, dimension_}, {scale_.data(), rows_, dimension_ * dimension_}};
  }

  [[nodiscard]] bench::Contest contest(const std::string& where, const char* baseline, int threads) const {
    return {std::to_string(rows_) + " x " + std::to_string(functions_) + where +
                (sizeof(Real) == 4 ? ", float, " : ", double, ") +
                (threads == 1 ? "one thread" : "all threads"),
            baseline,
            {"ns/pair", 1e-9 * static_cast<double>(rows_ * functions_), "Mpairs/s",
             1e-6 * static_cast<double>(rows_ * functions_)}};
  }

  /// value_error(alpha) and gradient_error(alpha) look at r_ and d_mu_.
  template <class ValueError, class GradientError>
  void add(bench::Contest& contest, double alpha, const cpu::GaussianFunctions& psi, ValueError value_error,
           GradientError gradient_error) {
    const auto attend = [=, this] {
      cpu::attend(densities(alpha), psi, Rows<Real>(r_.data(), rows_, functions_));
    };
    contest.add(label("attend", alpha), attend, [=] { return value_error(alpha); });
    contest.add(
        label("attend + vjp", alpha),
        [=, this] {
          attend();
          cpu::attend_vjp(densities(alpha), psi, Rows<const Real>(cotangent_.data(), rows_, functions_),
                          {.mu = {d_mu_.data(), rows_, dimension_},
                           .Sigma = {d_scale_.data(), rows_, dimension_ * dimension_}});
        },
        [=] { return gradient_error(alpha); });
  }

  index_t rows_, dimension_, functions_;
  std::vector<Real> mu_, scale_, d_mu_, d_scale_, r_, cotangent_;
};

/// What varies from cell to cell: the least and the largest scale of a density, and the functions.
struct Cell {
  const char* name;
  double least, largest;
  bool irregular;
};
constexpr Cell kLineCells[] = {{", narrow densities, equally spaced", 0.01, 0.05, false},
                               {", wide densities, equally spaced", 0.05, 0.5, false},
                               {", narrow densities, irregular", 0.01, 0.05, true},
                               {", wide densities, irregular", 0.05, 0.5, true}};
constexpr Cell kPlaneCells[] = {{", narrow densities, equally spaced", 0.03, 0.1, false},
                                {", wide densities, equally spaced", 0.1, 0.5, false},
                                {", narrow densities, irregular", 0.03, 0.1, true},
                                {", wide densities, irregular", 0.1, 0.5, true}};

/// From `least` to `most`, uniform in the logarithm.
double between(double least, double most, Philox& rng) {
  return least * std::pow(most / least, uniform01(rng));
}

/// Densities on the line with means in [0, 1].
template <class Real>
class LineProblem : private Batch<Real> {
 public:
  LineProblem(index_t rows, const Cell& cell)
      : Batch<Real>(rows, 1, kFunctions), cell_(cell), basis_(functions(cell.irregular)) {
    Philox rng(1, 0);
    for (index_t i = 0; i < rows; ++i) {
      mu_[size(i)] = static_cast<Real>(uniform01(rng));
      const double sigma = between(cell.least, cell.largest, rng);
      scale_[size(i)] = static_cast<Real>(sigma * sigma);
    }
  }

  void print(int threads) {
    set_num_threads(threads);
    bench::Contest contest = this->contest(std::string(" on the line") + cell_.name, "/ plain", threads);
    contest.add(
        "plain erf form, alpha 2", [this] { plain(); }, [this] { return value_error(2); });
    for (const double alpha : {1.0, 4.0 / 3, 1.5, 2.0, 1.7, 1.1, 0.8}) {
      this->add(
          contest, alpha, basis_.functions(), [this](double a) { return value_error(a); },
          [this](double a) { return gradient_error(a); });
    }
    contest.print(3);
    set_num_threads(0);
  }

 private:
  using Batch<Real>::rows_, Batch<Real>::mu_, Batch<Real>::scale_, Batch<Real>::d_mu_, Batch<Real>::r_;

  /// docs/math.md 7.2 for n = 1: 3 / (4 a) int (1 - x^2) N, by the moments of the Gaussian between the ends.
  void plain() {
    for (index_t i = 0; i < rows_; ++i) {
      const double mu = mu_[size(i)], a = std::cbrt(1.5 * scale_[size(i)]);
      for (index_t j = 0; j < basis_.size(); ++j) {
        const double w = basis_.sigma()[size(j)], d = basis_.mu()[size(j)] - mu;
        const double u = (-a - d) / w, v = (a - d) / w;
        const double mass = 0.5 * (std::erf(v / std::numbers::sqrt2) - std::erf(u / std::numbers::sqrt2));
        const double at_u = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
        const double at_v = std::exp(-v * v / 2) / std::sqrt(2 * std::numbers::pi);
        r_[size(i * basis_.size() + j)] =
            static_cast<Real>(0.75 * w * w / (a * a * a) * (v * at_u - u * at_v - (1 + u * v) * mass));
      }
    }
  }

  double value_error(double alpha) const {
    double worst = 0;
    for (index_t i = 0; i < kChecked; ++i) {
      for (index_t j = 0; j < basis_.size(); ++j) {
        const double mean = basis_.mu()[size(j)], width = basis_.sigma()[size(j)];
        const double exact =
            quadrature(mu_[size(i)], scale_[size(i)], alpha, mean, width, [](double) { return 1; });
        if (exact < 1e-30) continue;
        worst = std::max(worst, std::abs(double{r_[size(i * basis_.size() + j)]} / exact - 1));
      }
    }
    return worst;
  }
  double gradient_error(double alpha) const {
    double worst = 0;
    for (index_t i = 0; i < kChecked; ++i) {
      double slope = 0, scale = 0;
      for (index_t j = 0; j < basis_.size(); ++j) {
        const double mean = basis_.mu()[size(j)], width = basis_.sigma()[size(j)];
        const double exact = quadrature(mu_[size(i)], scale_[size(i)], alpha, mean, width,
                                        [&](double t) { return (mean - t) / (width * width); });
        slope += exact;
        scale += std::abs(exact);
      }
      worst = std::max(worst, std::abs(double{d_mu_[size(i)]} - slope) / scale);
    }
    return worst;
  }

  static constexpr index_t kFunctions = 128;
  static GaussianBasis functions(bool irregular) {
    if (!irregular) return GaussianBasis::linearly_spaced(kFunctions, 0, 1, {0.1, 0.5});
    Philox rng(3, 0);
    std::vector<double> mu, sigma;
    for (index_t j = 0; j < kFunctions; ++j) {
      mu.push_back(uniform01(rng));
      sigma.push_back(between(0.1, 0.5, rng));
    }
    return {std::move(mu), std::move(sigma)};
  }

  Cell cell_;
  GaussianBasis basis_;
};

/// Densities in the plane with means in the unit square and correlations up to .8.
template <class Real>
class PlaneProblem : private Batch<Real> {
 public:
  PlaneProblem(index_t rows, const Cell& cell)
      : Batch<Real>(rows, 2, kSide * kSide), cell_(cell), basis_(functions(cell.irregular)) {
    Philox rng(2, 0);
    for (index_t i = 0; i < rows; ++i) {
      const double x = between(cell.least, cell.largest, rng), y = between(cell.least, cell.largest, rng);
      const double xy = x * y * (1.6 * uniform01(rng) - 0.8);
      for (index_t a = 0; a < 2; ++a) mu_[size(2 * i + a)] = static_cast<Real>(uniform01(rng));
      scale_[size(4 * i)] = static_cast<Real>(x * x);
      scale_[size(4 * i + 1)] = scale_[size(4 * i + 2)] = static_cast<Real>(xy);
      scale_[size(4 * i + 3)] = static_cast<Real>(y * y);
    }
  }

  void print(int threads) {
    set_num_threads(threads);
    bench::Contest contest = this->contest(std::string(" in the plane") + cell_.name, "/ alpha 1", threads);
    for (const double alpha : {1.0, 1.5, 2.0, 1.7}) {
      this->add(
          contest, alpha, basis_.functions(), [this](double a) { return value_error(a); },
          [this](double a) { return gradient_error(a); });
    }
    contest.print(3);
    set_num_threads(0);
  }

 private:
  using Batch<Real>::mu_, Batch<Real>::scale_, Batch<Real>::d_mu_, Batch<Real>::r_;

  /// Of three functions under one density, against quadrature over x of quadrature over y.
  double value_error(double alpha) const {
    const double xx = scale_[0], xy = scale_[1], yy = scale_[3], det = xx * yy - xy * xy;
    const BetaGaussianConstants c = beta_gaussian_constants(2, alpha - 1, std::log(det));
    const double reach = std::sqrt(alpha > 1 ? c.radius2 : 100.0);
    std::vector<index_t> order(size(basis_.size()));
    std::iota(order.begin(), order.end(), index_t{0});
    std::sort(order.begin(), order.end(), [&](index_t i, index_t j) { return r_[size(i)] > r_[size(j)]; });
    double worst = 0;
    for (const index_t rank : {0, 2, 8}) {
      const index_t j = order[size(rank)];
      const Eigen::VectorXd mean = basis_.mu(j);
      const double variance = basis_.Sigma(j)(0, 0), width = std::sqrt(variance);
      const double from = std::max(mu_[0] - reach * std::sqrt(xx), mean[0] - 9 * width);
      const double to = std::min(mu_[0] + reach * std::sqrt(xx), mean[0] + 9 * width);
      if (from >= to) continue;
      const double exact =
          integrate(
              [&](double s) {
                const double u = s - mu_[0], along = xy / xx * u;
                const double half = std::sqrt(std::max(0.0, (reach * reach - u * u / xx) * det / xx));
                const double lower = std::max(mu_[1] + along - half, mean[1] - 9 * width);
                const double upper = std::min(mu_[1] + along + half, mean[1] + 9 * width);
                if (lower >= upper) return 0.0;
                return integrate(
                           [&](double t) {
                             const double v = t - mu_[1] - along, a = s - mean[0], b = t - mean[1];
                             const double q = u * u / xx + v * v * xx / det;
                             return std::exp(log_density(c, q) - (a * a + b * b) / (2 * variance)) /
                                    (2 * std::numbers::pi * variance);
                           },
                           lower, upper, 1e-12)
                    .value;
              },
              from, to, 1e-11)
              .value;
      worst = std::max(worst, std::abs(double{r_[size(j)]} / exact - 1));
    }
    return worst;
  }

  /// Of d/dmu of one density, against a difference of the sums of its row in double.
  double gradient_error(double alpha) const {
    const auto total = [&](double shift) {
      const double mu[] = {mu_[0] + shift, mu_[1]}, scale[] = {scale_[0], scale_[1], scale_[2], scale_[3]};
      std::vector<double> row(size(basis_.size()));
      cpu::attend(cpu::Densities<double>{alpha, {mu, 1, 2}, {scale, 1, 4}}, basis_.functions(),
                  {row.data(), 1, basis_.size()});
      return std::accumulate(row.begin(), row.end(), 0.0);
    };
    const double step = 1e-5, slope = (total(step) - total(-step)) / (2 * step);
    return std::abs(double{d_mu_[0]} / slope - 1);
  }

  static constexpr double kVariance = 0.001;
  static constexpr index_t kSide = 10;
  static MultivariateGaussianBasis functions(bool irregular) {
    const Eigen::Matrix2d covariance = kVariance * Eigen::Matrix2d::Identity();
    if (!irregular) return MultivariateGaussianBasis::unit_square(kSide, kSide, covariance);
    Philox rng(4, 0);
    Eigen::MatrixXd mu(2, kSide * kSide);
    std::vector<Eigen::MatrixXd> covariances;
    for (index_t j = 0; j < kSide * kSide; ++j) {
      mu.col(j) << uniform01(rng), uniform01(rng);
      covariances.emplace_back(between(0.5, 2, rng) * covariance);
    }
    return {mu, covariances};
  }

  Cell cell_;
  MultivariateGaussianBasis basis_;
};

template <template <class> class Problem>
void print(index_t rows, std::span<const Cell> cells, int threads) {
  for (const Cell& cell : cells) {
    Problem<float>(rows, cell).print(threads);
    Problem<double>(rows, cell).print(threads);
  }
}

}  // namespace

int main() {
  print<LineProblem>(65536, kLineCells, 1);
  print<PlaneProblem>(4096, kPlaneCells, 1);
  print<LineProblem>(65536, std::span(kLineCells).first(1), 0);
  print<PlaneProblem>(4096, std::span(kPlaneCells).first(1), 0);
}
