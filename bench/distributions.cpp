/// The bulk functions of beta-Gaussians, each beside a baseline in the same run: densities against a plain
/// loop over log_density, draws against std::normal_distribution, cdf and quantile against the Gaussian's.
/// Errors are the largest against long double, relative to 1 + |exact|; for draws (alpha > 1 alone) that of
/// the mean square of the whitened draws, in its standard deviations.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/beta_gaussian.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "support/contest.hpp"

namespace {

using namespace fenchel;

constexpr index_t kCount = 16384;
const std::vector<double> kAlphas{1, 0.95, 1 + 1e-8, 4.0 / 3, 1.5, 1.7, 2, 5, kInfinity};

std::string label(const char* what, double alpha) {
  char number[32];
  std::snprintf(number, sizeof number, "%.9g", alpha);
  return std::string(what) + " " + number;
}

/// One law in n dimensions. The points are Gaussian, every other one close to mu, where each alpha has mass.
template <class Real>
class Problem {
 public:
  explicit Problem(index_t n)
      : n_(n),
        mu_(size(n), 0.1),
        factor_(size(n * n)),
        whitening_(size(n * n)),
        points_(size(kCount * n)),
        values_(size(kCount)),
        draws_(points_.size()),
        normal_(points_.size()) {
    for (index_t i = 0; i < n; ++i) {
      factor_[size(i * n + i)] = 1.25;
      whitening_[size(i * n + i)] = 0.8;
      if (i == 0) continue;
      factor_[size(i * n + i - 1)] = 0.5;
      for (index_t j = 0; j < i; ++j) whitening_[size(i * n + j)] = -0.4 * whitening_[size((i - 1) * n + j)];
    }
    cpu::sample_rows(params(1), 1, 0, Rows<Real>(points_.data(), kCount, n));
    for (index_t k = 0; k < kCount * n; ++k) {
      if (k / n % 2 == 0) points_[size(k)] *= Real(0.1);
    }
  }

  void densities() {
    bench::Contest contest(title("densities"), "/ scalar", {"ns/point", 1e-9 * static_cast<double>(kCount)});
    const auto add_scalar = [&](double alpha) {
      contest.add(
          label("scalar loop", alpha), [=, this] { scalar_log_pdf(params(alpha)); },
          [=, this] { return density_error(params(alpha), true); });
    };
    add_scalar(1.7);
    add_scalar(1);
    for (const double alpha : kAlphas) {
      contest.add(
          label("log_pdf", alpha), [=, this] { cpu::log_pdf_rows(params(alpha), points(), values_); },
          [=, this] { return density_error(params(alpha), true); });
    }
    for (const double alpha : {1.0, 1.7}) {
      contest.add(
          label("pdf", alpha), [=, this] { cpu::pdf_rows(params(alpha), points(), values_); },
          [=, this] { return density_error(params(alpha), false); });
    }
    contest.print();
  }

  void sampling() {
    bench::Contest contest(title("sampling"), "/ std", {"ns/draw", 1e-9 * static_cast<double>(kCount)});
    contest.add(
        "std::normal x n",
        [this] {
          std::normal_distribution<double> normal;
          for (double& x : normal_) x = normal(engine_);
        },
        [] { return 0.0; });
    for (const double alpha : kAlphas) {
      contest.add(
          label("sample", alpha),
          [=, this] { cpu::sample_rows(params(alpha), 7, 0, Rows<Real>(draws_.data(), kCount, n_)); },
          [=, this] { return moment_error(params(alpha)); });
    }
    contest.print();
  }

  /// n = 1.
  void line() {
    std::vector<Real> u(size(kCount));
    Philox rng(3);
    for (Real& x : u) x = static_cast<Real>(uniform01(rng));
    const std::vector<double> alphas{1, 4.0 / 3, 1.5, 2, kInfinity, 1.7, 0.95};
    bench::Contest cdf(title("cdf"), "/ Gaussian", {"ns/point", 1e-9 * static_cast<double>(kCount)});
    bench::Contest quantile(title("quantile"), "/ Gaussian",
                            {"ns/point", 1e-9 * static_cast<double>(kCount)});
    for (const double alpha : alphas) {
      cdf.add(
          label("cdf", alpha), [=, this] { cpu::cdf_rows(params(alpha), points_, values_); },
          [=, this] { return inversion_error(params(alpha), points_, values_); });
      quantile.add(
          label("quantile", alpha), [=, this] { cpu::quantile_rows(params(alpha), u, values_); },
          [=, this] { return inversion_error(params(alpha), values_, u); });
    }
    cdf.print();
    quantile.print();
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  [[nodiscard]] std::string title(const char* what) const {
    return std::string(what) + " by alpha, " + (sizeof(Real) == 4 ? "float" : "double") +
           ", n = " + std::to_string(n_);
  }
  [[nodiscard]] cpu::BetaGaussianParams params(double alpha) const {
    const double log_det = 2 * static_cast<double>(n_) * std::log(1.25);
    return {beta_gaussian_constants(n_, alpha - 1, log_det),
            mu_,
            {whitening_.data(), n_, n_},
            {factor_.data(), n_, n_}};
  }
  [[nodiscard]] Rows<const Real> points() const { return {points_.data(), kCount, n_}; }

  template <class Float>
  [[nodiscard]] Float squared_norm(const Real* t) const {
    Float q = 0;
    for (index_t i = 0; i < n_; ++i) {
      Float z = 0;
      for (index_t j = 0; j <= i; ++j) {
        z += Float{whitening_[size(i * n_ + j)]} * (static_cast<Float>(t[j]) - Float{mu_[size(j)]});
      }
      q += z * z;
    }
    return q;
  }
  void scalar_log_pdf(const cpu::BetaGaussianParams& p) {
    for (index_t k = 0; k < kCount; ++k) {
      values_[size(k)] =
          static_cast<Real>(log_density(p.constants, squared_norm<double>(points_.data() + k * n_)));
    }
  }

  [[nodiscard]] double density_error(const cpu::BetaGaussianParams& p, bool logarithm) const {
    const BetaGaussianConstants& c = p.constants;
    long double error = 0;
    for (index_t k = 0; k < kCount; ++k) {
      const auto q = squared_norm<long double>(points_.data() + k * n_);
      const long double y = q / c.radius2;
      if (c.am1 > 0 && y >= 1) continue;
      const long double log_p = c.log_peak + (c.am1 == 0 ? -q / 2 : std::log1p(-y) / c.am1);
      const long double exact = logarithm ? log_p : std::exp(log_p);
      error = std::max(error, std::fabs(values_[size(k)] - exact) / (1 + std::fabs(exact)));
    }
    return static_cast<double>(error);
  }

  /// E q = n variance_factor; q / radius2 ~ Beta(n/2, 1 + 1/am1).
  [[nodiscard]] double moment_error(const cpu::BetaGaussianParams& p) const {
    const BetaGaussianConstants& c = p.constants;
    if (c.am1 < 0) return 0;
    double sum = 0;
    for (index_t k = 0; k < kCount; ++k) sum += squared_norm<double>(draws_.data() + k * n_);
    const double n = static_cast<double>(n_), mean = n * c.variance_factor;
    double variance = 2 * n;
    if (c.am1 > 0) {
      const double a = n / 2, b = 1 + 1 / c.am1, r = c.radius2 / (a + b);
      variance = r * r * a * b / (a + b + 1);
    }
    const double count = static_cast<double>(kCount);
    return std::abs(sum / count - mean) / std::sqrt(variance / count);
  }

  /// The largest |F(t) - u|, F from the kernel in double for alpha without a closed form.
  [[nodiscard]] double inversion_error(const cpu::BetaGaussianParams& p, const std::vector<Real>& t,
                                       const std::vector<Real>& u) const {
    const BetaGaussianConstants& c = p.constants;
    double error = 0;
    for (std::size_t k = 0; k < t.size(); k += 16) {
      const double x = static_cast<double>(t[k]) - mu_[0];
      double exact;
      if (c.am1 == 0) {
        exact = std::erfc(-x * whitening_[0] / std::numbers::sqrt2) / 2;
      } else if (c.am1 == 1) {
        const double z = std::clamp(x * whitening_[0] / std::sqrt(c.radius2), -1.0, 1.0);
        exact = (2 + 3 * z - z * z * z) / 4;
      } else {
        const double in[] = {static_cast<double>(t[k])};
        double out[1];
        cpu::cdf_rows(p, in, out);
        exact = out[0];
      }
      error = std::max(error, std::abs(exact - static_cast<double>(u[k])));
    }
    return error;
  }

  index_t n_;
  std::vector<double> mu_, factor_, whitening_;
  std::vector<Real> points_, values_, draws_;
  std::vector<double> normal_;
  std::mt19937_64 engine_{1};
};

template <class Real>
void run() {
  for (const index_t n : {1, 2, 16}) {
    Problem<Real> problem(n);
    problem.densities();
    problem.sampling();
    if (n == 1) problem.line();
  }
}

}  // namespace

int main() {
  set_num_threads(1);  // the baselines have one
  run<float>();
  run<double>();
}
