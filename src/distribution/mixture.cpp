#include "fenchel/distribution/mixture.hpp"

#include <boost/math/tools/minima.hpp>
#include <cstdint>
#include <numeric>

#include "distribution/line/bounded_density.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr auto kWhere = "mixture";

/// The root of the increasing `excess` in the piece and the bracket, whose ends may overflow.
double root_in_piece(FunctionRef<ValueAndSlope(double)> excess, const Interval& piece,
                     const QuantileBracket& bracket) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const double lower = std::clamp(std::max(bracket.lower, piece.lower()), -kMax, kMax);
  const double upper = std::clamp(std::min(bracket.upper, piece.upper()), lower, kMax);
  const double start = std::isfinite(bracket.start) ? bracket.start : std::midpoint(lower, upper);
  return increasing_root(excess, lower, upper, start);
}

}  // namespace

std::vector<double> checked_mixture_weights(std::vector<double> weights, index_t components) {
  if (components == 0) throw_invalid_argument(kWhere, "components", "must not be empty", index_t{0});
  if (static_cast<index_t>(weights.size()) != components)
    throw_invalid_argument(kWhere, "weights.size()", "must be components.size() = " + shortest(components),
                           static_cast<index_t>(weights.size()));
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    sum += checked_nonnegative(kWhere, indexed("weights", static_cast<index_t>(k)), weights[k]);
  if (!(std::abs(sum - 1) <= kMixtureWeightTolerance))
    throw_domain_error(kWhere, "the sum of weights", "must be 1 within " + shortest(kMixtureWeightTolerance),
                       sum);
  for (double& weight : weights) weight /= sum;
  return weights;
}

double checked_component_width(index_t i, double width) {
  if (!(width > 0))
    throw_domain_error(kWhere, "the interquartile range of " + indexed("components", i),
                       "must be resolved by doubles near its median", width);
  return width;
}

void check_mixture_component(index_t i, index_t dimension, index_t rank, index_t first) {
  const std::string name = indexed("components", i);
  if (dimension != first)
    throw_invalid_argument(kWhere, name + ".dimension()", "must be that of the first, " + shortest(first),
                           dimension);
  if (rank != dimension)
    throw_invalid_argument(kWhere, name + ".rank()", "must be its dimension " + shortest(dimension), rank);
}

std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.lower() < b.lower(); });
  std::vector<Interval> apart;
  for (const Interval& next : intervals) {
    if (!apart.empty() && next.lower() <= apart.back().upper()) {
      apart.back() = Interval(apart.back().lower(), std::max(apart.back().upper(), next.upper()));
    } else {
      apart.push_back(next);
    }
  }
  return apart;
}

std::vector<Interval> cut(std::span<const Interval> pieces, std::span<const double> points) {
  std::vector<Interval> segments;
  for (const Interval& piece : pieces) {
    double lower = piece.lower();
    for (const double point : points) {
      if (!(lower < point && point < piece.upper())) continue;
      segments.emplace_back(lower, point);
      lower = point;
    }
    segments.emplace_back(lower, piece.upper());
  }
  return segments;
}

double quantile_in_pieces(double u, std::span<const Interval> pieces, FunctionRef<double(double)> cdf,
                          FunctionRef<double(double)> pdf, const QuantileBracket& bracket) {
  if (u == 0) return pieces.front().lower();
  const auto excess = [&](double t) { return ValueAndSlope{cdf(t) - u, pdf(t)}; };
  for (const Interval& piece : pieces) {
    const double below = cdf(piece.upper());
    if (u == below) return piece.upper();
    if (u < below) return root_in_piece(excess, piece, bracket);
  }
  return pieces.back().upper();
}

double survival_quantile_in_pieces(double u, std::span<const Interval> pieces,
                                   FunctionRef<double(double)> survival, FunctionRef<double(double)> pdf,
                                   const QuantileBracket& bracket) {
  if (u == 0) return pieces.back().upper();
  const auto excess = [&](double t) { return ValueAndSlope{u - survival(t), pdf(t)}; };
  for (std::size_t i = pieces.size(); i-- > 0;) {
    const double above = survival(pieces[i].lower());
    if (u == above && i > 0) return pieces[i - 1].upper();
    if (u < above) return root_in_piece(excess, pieces[i], bracket);
  }
  return pieces.front().lower();
}

double highest_point(FunctionRef<double(double)> pdf, std::span<const double> modes,
                     std::span<const double> points) {
  constexpr int kBits = std::numeric_limits<double>::digits / 2;
  constexpr std::uintmax_t kMostSteps = 100;
  struct Point {
    double at, height;
  };
  std::vector<Point> grid;
  const auto add = [&](double t) { grid.push_back({t, pdf(t)}); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0 && points[i] == points[i - 1]) continue;
    if (i > 0) add(std::midpoint(points[i - 1], points[i]));
    add(points[i]);
  }
  const auto height = [&](std::size_t i) { return grid[i].height; };
  Point best{modes[0], pdf(modes[0])};
  for (const double t : modes)
    if (pdf(t) > best.height) best = {t, pdf(t)};
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (height(i) > best.height) best = grid[i];
    const std::size_t left = i == 0 ? 0 : i - 1, right = std::min(i + 1, grid.size() - 1);
    if (!(height(i) >= height(left) && height(i) >= height(right))) continue;
    const auto at = [&](double share) { return std::lerp(grid[left].at, grid[right].at, share); };
    std::uintmax_t steps = kMostSteps;
    const auto [share, least] = boost::math::tools::brent_find_minima(
        [&](double x) { return -pdf(at(x)); }, 0.0, 1.0, kBits, steps);  // products of t would overflow
    if (-least > best.height) best = {at(share), -least};
  }
  return best.at;
}

double tsallis_entropy_in_segments(FunctionRef<double(double)> log_pdf, std::span<const Interval> segments,
                                   double centre, double scale, double order) {
  const double om1 = order - 1;
  const auto integrand = [&](double t) {  // p log_{2-order}(p); p^order is kept where p underflows
    const double l = log_pdf(t);
    if (l == -kInfinity) return 0.0;
    return std::abs(om1 * l) < 1 ? std::exp(l) * deformed_log_of_exp(om1, l)
                                 : (std::exp(order * l) - std::exp(l)) / om1;
  };
  const auto one = [](double) { return 1.0; };
  return 0.0 - expectation(integrand, one, segments, centre, scale, kMixtureAccuracy, {}) / order;
}

}  // namespace fenchel::detail
