#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string_view>

#include "backend/cpu/beta_gaussian_checks.hpp"
#include "backend/cpu/beta_gaussian_kernels.hpp"
#include "core/boost_policy.hpp"
#include "fenchel/core/beta_gaussian_tail.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

void check_line(std::string_view where, const BetaGaussianParams& p, index_t size, index_t out) {
  detail::check_params(where, p);
  if (p.mu.size() != 1) throw_invalid_argument(where, "mu.size()", "must be 1", std::ssize(p.mu));
  detail::check_count(where, "out", out, size);
}

/// alpha names the exact polynomials: 4/3 rounded to double is meant to be 4/3.
std::optional<detail::LineLaw> closed_form(const BetaGaussianParams& p) {
  const BetaGaussianConstants& c = p.constants;
  const double mu = p.mu[0], sigma = std::abs(p.factor.row(0)[0]), width = sigma * std::sqrt(c.radius2);
  if (c.am1 == 0) return detail::LineLaw{detail::LineLaw::kGaussian, mu, sigma};
  if (std::isinf(c.am1)) return detail::LineLaw{0, mu, width};
  if (c.am1 == 1) return detail::LineLaw{1, mu, width};
  if (c.am1 == 0.5) return detail::LineLaw{2, mu, width};
  if (c.am1 == 4.0 / 3 - 1) return detail::LineLaw{3, mu, width};
  return std::nullopt;
}

/// Any other alpha: q / (q + |radius2|) for alpha < 1 and q / radius2 above have beta laws of shapes 1/2 and
/// b = nu/2 or 1 + 1/am1 (MATH.md 5.6). core/beta_gaussian_tail.hpp has relative accuracy near alpha = 1, by
/// a quadrature; here an absolute error is promised, for which one incomplete beta function is enough.
class GeneralLine {
 public:
  explicit GeneralLine(const BetaGaussianParams& p)
      : constants_(p.constants),
        heavy_(p.constants.am1 < 0),
        b_(heavy_ ? -1 / p.constants.am1 - 0.5 : 1 + 1 / p.constants.am1),
        mu_(p.mu[0]),
        sigma_(std::abs(p.factor.row(0)[0])),
        width_(sigma_ * std::sqrt(std::abs(p.constants.radius2))) {}

  [[nodiscard]] double cdf(double t) const noexcept {
    if (std::isnan(t)) return t;
    const double x = (t - mu_) / width_, y = x * x;
    double outside;  // P(|X - mu| > |t - mu|)
    if (!heavy_) {
      outside = y < 1 ? boost::math::ibetac(0.5, b_, y, kQuiet) : 0;
    } else if (y < 1e-4) {  // the complement has half of its digits at b = 1/2
      outside = 1 - boost::math::ibeta(0.5, b_, y / (1 + y), kQuiet);
    } else if (y < 1) {
      outside = boost::math::ibetac(0.5, b_, y / (1 + y), kQuiet);
    } else {
      outside = boost::math::ibeta(b_, 0.5, 1 / (1 + y), kQuiet);
    }
    return x < 0 ? outside / 2 : 1 - outside / 2;
  }

  [[nodiscard]] double quantile(double u) const noexcept {
    if (!(u >= 0 && u <= 1)) return std::numeric_limits<double>::quiet_NaN();
    const double outside = 2 * std::min(u, 1 - u);
    if (outside > 0 && outside < kSmallest)
      return mu_ - sigma_ * upper_tail_quantile(constants_, std::log(sigma_), u);
    double y = 1, left = 0;
    try {
      if (outside > 0) y = boost::math::ibetac_inv(0.5, b_, outside, &left, kQuiet);
    } catch (const std::exception&) {  // its root finders have a policy of their own
      return std::numeric_limits<double>::quiet_NaN();
    }
    double distance = width_ * std::sqrt(y);
    if (heavy_) distance /= left > kSmallest ? std::sqrt(left) : far_root_of(outside);
    return u < 0.5 ? mu_ - distance : mu_ + distance;
  }

 private:
  static constexpr fenchel::detail::BoostPolicy kQuiet{};
  static constexpr double kSmallest = 1e-290;
  /// sqrt(left) where that is so small that outside = left^b / (b B(b, 1/2)).
  [[nodiscard]] double far_root_of(double outside) const noexcept {
    return std::pow(outside * b_ * boost::math::beta(b_, 0.5, kQuiet), 0.5 / b_);
  }

  BetaGaussianConstants constants_;
  bool heavy_;
  double b_, mu_, sigma_, width_;
};

/// vector(law, from, n, to) where there is a closed form, element(line, x) otherwise.
template <class Real, class Vector, class Element>
void map_line(std::string_view where, const BetaGaussianParams& p, std::span<const Real> in,
              std::span<Real> out, Vector vector, Element element) {
  check_line(where, p, std::ssize(in), std::ssize(out));
  const auto law = closed_form(p);
  const GeneralLine line(p);
  const int workers = workers_for(std::ssize(in), law ? 5 : 1000);
  parallel_rows(std::ssize(in), workers, [&](index_t begin, index_t end, int) noexcept {
    const Real* const from = in.data() + begin;
    Real* const to = out.data() + begin;
    if (law) return vector(*law, from, end - begin, to);
    std::transform(from, from + (end - begin), to,
                   [&](Real x) { return static_cast<Real>(element(line, static_cast<double>(x))); });
  });
}

template <class Real>
void cdf(const BetaGaussianParams& p, std::span<const Real> t, std::span<Real> out) {
  map_line(
      "cdf_rows", p, t, out, [](auto... arguments) noexcept { detail::cdf_loop(arguments...); },
      [](const GeneralLine& line, double x) { return line.cdf(x); });
}

template <class Real>
void quantile(const BetaGaussianParams& p, std::span<const Real> u, std::span<Real> out) {
  map_line(
      "quantile_rows", p, u, out, [](auto... arguments) noexcept { detail::quantile_loop(arguments...); },
      [](const GeneralLine& line, double x) { return line.quantile(x); });
}

}  // namespace

void cdf_rows(const BetaGaussianParams& p, std::span<const float> t, std::span<float> out) { cdf(p, t, out); }
void cdf_rows(const BetaGaussianParams& p, std::span<const double> t, std::span<double> out) {
  cdf(p, t, out);
}
void quantile_rows(const BetaGaussianParams& p, std::span<const float> u, std::span<float> out) {
  quantile(p, u, out);
}
void quantile_rows(const BetaGaussianParams& p, std::span<const double> u, std::span<double> out) {
  quantile(p, u, out);
}

}  // namespace fenchel::cpu
