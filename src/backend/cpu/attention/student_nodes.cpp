#include <algorithm>
#include <cmath>

#include "backend/attention/line_math.hpp"
#include "backend/cpu/attention/line.hpp"
#include "backend/cpu/attention/line_nodes.hpp"
#include "core/lanes/lane_math.hpp"

/// Student's law in y = scale sinh(t): p dy is a multiple of cosh(t)^(1 - 2 m) dt, m = -1 / am1, and the
/// trapezoidal rule in t converges exponentially, with a Gaussian function beside it too.
namespace fenchel::detail {
namespace {

constexpr index_t kMostNodes = 256;

/// What is below e^-drop of the result is left out, and the rule errs by about as much: in a float and in a
/// double.
constexpr double kSingleDrop = 20, kDoubleDrop = 36;
/// Of functions that are more widths away the slopes would cancel.
constexpr double kFarthest = 256;

struct Places {
  alignas(64) double place[kMostNodes], weight[kMostNodes];
};

/// sinh(t), to a rounding error of it for small t too.
FENCHEL_INLINE double sinh_element(double t) noexcept {
  constexpr double kOdd[] = {1.,           1. / 6,         1. / 120,         1. / 5040,
                             1. / 362880., 1. / 39916800., 1. / 6227020800., 1. / 1307674368e3};
  const double grown = exp_of<Accuracy::kDouble>(t), small = t * polynomial(smaller(t * t, 1), kOdd);
  return t * t < 1 ? small : 0.5 * (grown - 1 / grown);
}

FENCHEL_CLONES void place_nodes(double power, double first, double step, double factor, index_t count,
                                Places& to) noexcept {
  for (index_t i = 0; i < (count + 7) / 8 * 8; ++i) {
    const double x = sinh_element(first + step * static_cast<double>(i));
    to.place[i] = x;
    to.weight[i] = factor * exp_of<Accuracy::kDouble>(larger(-power * log1p_element(x * x), -700.0));
  }
}

/// t = first, first + step, ...
struct StudentGrid {
  double first, step, count;
};

/// Lengths are in `scale`. 1 / step^2 is a sum of what the pole of p at i pi / 2 asks for, its curvature at 0
/// and the function: q widths from its mean that has fallen by e^(-q^2/2), and nodes h widths apart err by
/// e^(-2 pi^2 / h^2) of it; their product is largest at `most`.
StudentGrid student_grid(double drop, double power, double lowest, double highest, double narrowest,
                         double widest) noexcept {
  constexpr double kTwoPi2 = 2 * std::numbers::pi * std::numbers::pi;
  const double farthest = std::max(highest, -lowest), ratio = 1 / narrowest, away = farthest * ratio;
  // the result is at least psi(mu), and at least p where the function is
  const double tail = power * std::log1p(farthest * farthest), half = 0.5 * away * away;
  const double fall = drop + std::min(half, tail + std::log1p(away));
  const double reach = widest * std::sqrt(2 * fall);
  const double end = std::asinh(std::sqrt(std::expm1(std::min(fall / power, 600.0))));
  const double first = std::max(-end, std::asinh(lowest - reach)),
               last = std::min(end, std::asinh(highest + reach));
  const auto most = [&](double depth) { return 0.25 * (std::sqrt(away * away + 16 * depth) - away); };
  double depth = std::max(drop - std::max(0.0, tail - half), 0.0);
  depth -= 2 * power * std::log(std::max(1.0, (away + 0.5 * most(depth)) / std::max(ratio, away)));
  depth = std::max(depth, 0.0);
  if (away > kFarthest) return {0, 0, kInfinity};
  const double q = most(depth), bump = (depth - 0.5 * q * q) * (away + q) * (away + q);
  const double smooth = drop / (std::numbers::pi * std::numbers::pi);
  const double step = 1 / std::sqrt(smooth * smooth + (drop * (2 * power + ratio * ratio) + bump) / kTwoPi2);
  return {first, step, std::ceil((last - first) / step) + 1};
}

}  // namespace

bool attend_student_range(const DensityRow& p, const LineFunctions& psi, const LineFunctions::Range& range,
                          Wanted wanted, Accuracy accuracy, RowBlocks out) noexcept {
  const BetaGaussianConstants& c = p.constants;
  constexpr double kLeastSize2 = 1e-280;  // of which no digit is lost
  const double size2 = -c.radius2 * p.scale[0];
  if (!(size2 > kLeastSize2)) return false;
  // E[y psi'] is a sum of y psi'(0) that cancel and of y^2
  constexpr double kNarrowest = 1e-4;
  if (wanted != Wanted::kValues && size2 < kNarrowest * kNarrowest * range.widest * range.widest)
    return false;
  const double scale = std::sqrt(size2), power = -1 / c.am1 - 0.5, mu = p.mu[0];
  const StudentGrid grid = student_grid(accuracy == Accuracy::kSingle ? kSingleDrop : kDoubleDrop, power,
                                        (range.lowest - mu) / scale, (range.highest - mu) / scale,
                                        range.narrowest / scale, range.widest / scale);
  if (!(grid.count >= 2 && grid.count <= kMostNodes)) return false;
  const double factor = std::exp(c.log_peak) * scale * grid.step;
  if (!(factor > 1e-280)) return false;
  Places nodes;
  const auto count = static_cast<index_t>(grid.count);
  place_nodes(power, grid.first, grid.step, factor, count, nodes);
  attend_nodes({count, nodes.place, nodes.weight, scale, 1 / ((2 + c.am1) * p.scale[0])}, mu, psi,
               range.begin, range.end, wanted, accuracy, out);
  return true;
}

}  // namespace fenchel::detail
