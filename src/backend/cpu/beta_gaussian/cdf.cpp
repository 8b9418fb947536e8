#include <algorithm>
#include <cmath>
#include <string_view>

#include "backend/cpu/beta_gaussian/checks.hpp"
#include "backend/cpu/beta_gaussian/kernels.hpp"
#include "core/beta_gaussian/general_line.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

void check_line(std::string_view where, const BetaGaussianParams& p, index_t size, index_t out) {
  detail::check_params(where, p);
  if (p.mu.size() != 1) throw_invalid_argument(where, "mu.size()", "must be 1", std::ssize(p.mu));
  detail::check_count(where, "out", out, size);
}

/// vector(law, from, n, to) where there is a closed form, element(line, x) otherwise.
template <class Real, class Vector, class Element>
void map_line(std::string_view where, const BetaGaussianParams& p, std::span<const Real> in,
              std::span<Real> out, Vector vector, Element element) {
  check_line(where, p, std::ssize(in), std::ssize(out));
  const detail::ClosedLine law = detail::closed_form(p.constants, p.mu[0], std::abs(p.factor.row(0)[0]));
  const bool closed = law.s != detail::ClosedLine::kNone;
  const detail::GeneralLine line = detail::general_line(p.constants, p.mu[0], std::abs(p.factor.row(0)[0]));
  const int workers = workers_for(std::ssize(in), closed ? 5 : 1000);
  parallel_rows(std::ssize(in), workers, [&](index_t begin, index_t end, int) noexcept {
    const Real* const from = in.data() + begin;
    Real* const to = out.data() + begin;
    if (closed) return vector(law, from, end - begin, to);
    std::transform(from, from + (end - begin), to,
                   [&](Real x) { return static_cast<Real>(element(line, static_cast<double>(x))); });
  });
}

template <class Real>
void cdf(const BetaGaussianParams& p, std::span<const Real> t, std::span<Real> out) {
  map_line(
      "cdf_rows", p, t, out, [](auto... arguments) noexcept { detail::cdf_loop(arguments...); },
      [](const detail::GeneralLine& line, double x) { return detail::cdf(line, x); });
}

template <class Real>
void quantile(const BetaGaussianParams& p, std::span<const Real> u, std::span<Real> out) {
  map_line(
      "quantile_rows", p, u, out, [](auto... arguments) noexcept { detail::quantile_loop(arguments...); },
      [](const detail::GeneralLine& line, double x) { return detail::quantile(line, x); });
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
