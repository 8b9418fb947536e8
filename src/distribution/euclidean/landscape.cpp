#include "distribution/euclidean/landscape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "distribution/euclidean/level_pieces.hpp"
#include "distribution/euclidean/scan.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr std::size_t kMostMaxima = 16;  // every scan and every panel goes through them
constexpr double kFarthest = 0x1p200;    // where a region has no end
constexpr double kMostStretched = 130;   // asinh of the farthest coordinate in a stretched frame

std::string point_text(const Eigen::Ref<const VectorXd>& t) {
  std::string text = "f(";
  for (Index i = 0; i < t.size(); ++i) text += (i > 0 ? ", " : "") + shortest(t[i]);
  return text + ")";
}

}  // namespace

Landscape::Landscape(PointFunction f, Box domain, double temperature)
    : f_(std::move(f)),
      domain_(std::move(domain)),
      temperature_(temperature),
      top_(-kInfinity),
      lowest_(kInfinity) {
  const Index n = domain_.dimension();
  std::vector<std::vector<double>> axes;
  for (Index i = 0; i < n; ++i) axes.push_back(scan_nodes(domain_.lower()[i], domain_.upper()[i], n));
  const MatrixXd points = grid(axes);
  const VectorXd values = checked(points);
  Index best = 0;
  top_ = values.maxCoeff(&best);
  if (top_ == -kInfinity) throw_domain_error("predict", "the largest f found", "must be finite", top_);
  for (Index i = 0; i < n; ++i) {
    const auto& nodes = axes[static_cast<std::size_t>(i)];
    const double at = points(i, best);
    if ((at == nodes.front() && std::isinf(domain_.lower()[i])) ||
        (at == nodes.back() && std::isinf(domain_.upper()[i])))
      throw_domain_error("predict", point_text(points.col(best)),
                         "must be less than f nearer to 0: no distribution exists where f does not fall",
                         top_);
  }
  for (Index i = 0; i < values.size(); ++i)
    if (values[i] > -kInfinity) lowest_ = std::min(lowest_, values[i]);

  // Points that may be in a region: the highest thousands.
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const std::size_t kept = std::min<std::size_t>(order.size(), 20000);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](Index a, Index b) { return values[a] > values[b]; });
  order.resize(kept);
  high_ = points(Eigen::all, order);
  high_values_ = values(order);

  frame_scale_ = VectorXd::Zero(n);
  add_maxima({VectorXd::Zero(n), MatrixXd::Identity(n, n)}, axes);
  settle_top();
  find_frame();
}

VectorXd Landscape::checked(const MatrixXd& t) const {
  VectorXd values = f_(t);
  for (Index i = 0; i < values.size(); ++i)
    if (!(values[i] < kInfinity))
      throw_domain_error("predict", point_text(t.col(i)), "must be a number below infinity", values[i]);
  return values;
}

VectorXd Landscape::operator()(const MatrixXd& t) const {
  MatrixXd within = t;  // a frame rounds, also at the ends of the domain
  std::vector<Index> inside;
  for (Index i = 0; i < t.cols(); ++i) {
    within.col(i) = t.col(i).cwiseMax(domain_.lower()).cwiseMin(domain_.upper());
    const VectorXd beyond = (t.col(i) - within.col(i)).cwiseAbs();
    if ((beyond.array() <=
         16 * std::numeric_limits<double>::epsilon() * t.col(i).array().abs().max(frame_scale_.array()))
            .all())
      inside.push_back(i);
  }
  VectorXd g = VectorXd::Constant(t.cols(), -kInfinity);
  if (inside.empty()) return g;
  if (static_cast<Index>(inside.size()) == t.cols()) return (checked(within).array() - top_) / temperature_;
  g(inside) = (checked(within(Eigen::all, inside)).array() - top_) / temperature_;
  return g;
}

double Landscape::unit_volume() const { return std::abs(frame_.basis.determinant()); }

bool Landscape::add_maxima(const Frame& frame, const std::vector<std::vector<double>>& axes) {
  constexpr int kMostRounds = 200;
  const Index n = domain_.dimension();
  const MatrixXd nodes = grid(axes);
  const VectorXd g = (*this)(frame.points(nodes));
  const MatrixXd around = steps_around(n);
  VectorXd stride(n);  // the last axis runs fastest
  for (Index i = n; i-- > 0;)
    stride[i] =
        i == n - 1 ? 1 : stride[i + 1] * static_cast<double>(axes[static_cast<std::size_t>(i + 1)].size());
  const MatrixXd fit = quadratic_fit(around);
  struct Climb {
    VectorXd at, step, guess;
    double value, cell;  // and the width of a cell about it
  };
  std::vector<Climb> climbs;
  for (Index k = 0; k < g.size(); ++k) {
    if (g[k] == -kInfinity) continue;
    VectorXd step = VectorXd::Zero(n);
    Eigen::VectorXi place(n);
    Index rest = k;
    for (Index i = 0; i < n; ++i) {
      const auto& axis = axes[static_cast<std::size_t>(i)];
      place[i] = static_cast<int>(rest / static_cast<Index>(stride[i]));
      rest %= static_cast<Index>(stride[i]);
      const auto at = static_cast<std::size_t>(place[i]);
      if (at > 0) step[i] = axis[at] - axis[at - 1];
      if (at + 1 < axis.size()) step[i] = std::max(step[i], axis[at + 1] - axis[at]);
    }
    bool highest = true;
    for (Index j = 0; j < around.cols() && highest; ++j) {
      Index other = 0;
      bool there = true;
      for (Index i = 0; i < n; ++i) {
        const int to = place[i] + static_cast<int>(around(i, j));
        there = there && to >= 0 && to < static_cast<int>(axes[static_cast<std::size_t>(i)].size());
        other += static_cast<Index>(to) * static_cast<Index>(stride[i]);
      }
      if (there) highest = g[k] > g[other] || (g[k] == g[other] && k < other);
    }
    if (highest) climbs.push_back({nodes.col(k), step / 2, nodes.col(k), g[k], step.maxCoeff()});
  }
  std::sort(climbs.begin(), climbs.end(), [](const Climb& a, const Climb& b) { return a.value > b.value; });
  if (climbs.size() > kMostMaxima) climbs.resize(kMostMaxima);

  // To the best of the neighbours and of the top of the parabola through them, or with half the step.
  const Index size = around.cols() + 1;
  for (int round = 0; round < kMostRounds; ++round) {
    MatrixXd asked(n, static_cast<Index>(climbs.size()) * size);
    for (std::size_t c = 0; c < climbs.size(); ++c) {
      asked.middleCols(static_cast<Index>(c) * size, size - 1) =
          (climbs[c].step.asDiagonal() * around).colwise() + climbs[c].at;
      asked.col(static_cast<Index>(c) * size + size - 1) = climbs[c].guess;
    }
    const VectorXd found = (*this)(frame.points(asked));
    bool moving = false;
    for (std::size_t c = 0; c < climbs.size(); ++c) {
      Climb& climb = climbs[c];
      const VectorXd values = found.segment(static_cast<Index>(c) * size, size);
      Index best = 0;
      const double value = values.maxCoeff(&best);
      climb.guess = climb.at + climb.step.cwiseProduct(top_of_fit(
                                   fit * (values.head(size - 1).array() - climb.value).matrix(), n));
      if (value > climb.value) {
        climb.value = value;
        climb.at = asked.col(static_cast<Index>(c) * size + best);
      } else {
        climb.step /= 2;
      }
      const double least = 1e-9 * std::max(climb.cell, climb.at.cwiseAbs().maxCoeff());
      moving = moving || climb.step.maxCoeff() > least;
    }
    if (!moving) break;
  }

  bool any = false;
  for (const Climb& climb : climbs) {
    if (maxima_.size() >= kMostMaxima) break;
    const double near = 0.05 * climb.cell;
    const auto is_near = [&](const VectorXd& known) {
      return (frame.coordinates(known) - climb.at).cwiseAbs().maxCoeff() < near;
    };
    if (std::any_of(maxima_.begin(), maxima_.end(), is_near)) continue;
    maxima_.emplace_back(frame.points(climb.at));
    any = true;
  }
  return any;
}

/// The top is the highest maximum, and the centre of the frame.
void Landscape::settle_top() {
  for (const VectorXd& at : maxima_) {
    const double above = (*this)(at)[0];
    if (frame_.centre.size() > 0 && !(above > 0)) continue;
    top_ += above * temperature_;
    frame_.centre = at;
  }
}

/// For each direction of the frame how far g stays within `fall` of the top: to the first node beyond, or to
/// the last within.
VectorXd Landscape::radii(const VectorXd& from, const MatrixXd& along, double fall, bool last) const {
  constexpr double kFirst = -40, kLast = 200, kOctave = 0.5;
  constexpr int kAtOnce = 8;
  // A score may overflow far out, so that rays go on only from where it has not fallen too deep.
  const double depth = std::max(1e30, 2 * fall);
  VectorXd found = VectorXd::Constant(along.cols(), std::exp2(kFirst));
  std::vector<Index> open(static_cast<std::size_t>(along.cols()));
  std::iota(open.begin(), open.end(), Index{0});
  for (double k = kFirst; k <= kLast && !open.empty(); k += kAtOnce * kOctave) {
    MatrixXd asked(along.rows(), static_cast<Index>(open.size()) * kAtOnce);
    for (std::size_t i = 0; i < open.size(); ++i)
      for (int j = 0; j < kAtOnce; ++j)
        asked.col(static_cast<Index>(i) * kAtOnce + j) =
            from + std::exp2(k + j * kOctave) * along.col(open[i]);
    const VectorXd g = (*this)(asked);
    std::vector<Index> next;
    for (std::size_t i = 0; i < open.size(); ++i) {
      bool done = false;
      for (int j = 0; j < kAtOnce && !done; ++j) {
        const double value = g[static_cast<Index>(i) * kAtOnce + j], size = std::exp2(k + j * kOctave);
        if (value >= -fall) found[open[i]] = last ? size * std::exp2(kOctave) : size;
        done = (!last && value < -fall) || (value > -kInfinity && value < -depth);
      }
      if (!done) next.push_back(open[i]);
    }
    open = std::move(next);
  }
  return found;
}

void Landscape::find_frame() {
  constexpr int kMostRounds = 8;
  const Index n = domain_.dimension();
  frame_.basis = MatrixXd::Identity(n, n);
  const double fall = std::min(1.0, (top_ - lowest_) / temperature_ / 2);
  const bool free = domain_.lower().array().isInf().all() && domain_.upper().array().isInf().all();
  const MatrixXd unit = free ? directions(n) : MatrixXd::Identity(n, n);
  for (int round = 0; round < (free ? kMostRounds : 1); ++round) {
    MatrixXd along = frame_.basis * unit;
    VectorXd r = radii(frame_.centre, along, fall, false);
    if (!free) {
      const VectorXd back = radii(frame_.centre, -along, fall, false);
      r = r.cwiseMax(back);
      for (Index i = 0; i < n; ++i) {
        const double width = domain_.upper()[i] - domain_.lower()[i];
        if (!(r[i] > 0 && r[i] < 1e100)) r[i] = std::isinf(width) ? 1 : width / 2;
        r[i] = std::min(r[i], width);
      }
      frame_.basis = r.asDiagonal();
      frame_scale_ = r;
      return;
    }
    for (double& x : r)
      if (!(x > 0 && x < 1e100)) x = 1;
    along = along * r.asDiagonal();
    const MatrixXd second =
        along * along.transpose() * (static_cast<double>(n) / static_cast<double>(unit.cols()));
    const Eigen::LLT<MatrixXd> factor(second);
    if (factor.info() != Eigen::Success) return;
    frame_.basis = factor.matrixL();
    if (r.maxCoeff() < 2 * r.minCoeff()) return;
  }
}

std::optional<LevelRegion> Landscape::region(PointFunction g, double height, bool stretched) const {
  constexpr int kMostGrowths = 400;
  constexpr double kMargin = 0.03, kGrowth = 0.5;
  const Index n = domain_.dimension();
  const VectorXd far = VectorXd::Constant(n, kInfinity);
  LevelRegion region{std::move(g), frame_, far, -far, -far, far, {}, height};
  region.frame.stretched = stretched;
  const auto include = [&](const MatrixXd& u) {
    region.lower = region.lower.cwiseMin(u.rowwise().minCoeff());
    region.upper = region.upper.cwiseMax(u.rowwise().maxCoeff());
  };
  const MatrixXd unit = directions(n);
  for (const VectorXd& at : maxima_) {
    const MatrixXd along = frame_.basis * unit;
    if (!((*this)(at)[0] >= -height)) continue;
    const VectorXd r = radii(at, along, height, true);
    if (!stretched && r.maxCoeff() >= kFarthest) return std::nullopt;
    include(region.frame.coordinates((along * r.asDiagonal()).colwise() + at));
  }
  for (Index i = 0; i < high_.cols(); ++i)
    if ((high_values_[i] - top_) / temperature_ >= -height) include(region.frame.coordinates(high_.col(i)));

  // A frame of a box has its axes.
  VectorXd &least = region.least, &most = region.most;
  if (stretched) {
    least.setConstant(-kMostStretched);
    most.setConstant(kMostStretched);
  }
  const auto end_of = [&](Index i, double end) {
    const double u = (end - frame_.centre[i]) / frame_.basis(i, i);
    return stretched ? std::asinh(u) : u;
  };
  for (Index i = 0; i < n; ++i) {
    if (!std::isinf(domain_.lower()[i])) least[i] = end_of(i, domain_.lower()[i]);
    if (!std::isinf(domain_.upper()[i])) most[i] = end_of(i, domain_.upper()[i]);
    const double margin = kMargin * (region.upper[i] - region.lower[i]);
    region.lower[i] = std::max(region.lower[i] - margin, least[i]);
    region.upper[i] = std::min(region.upper[i] + margin, most[i]);
  }
  for (const VectorXd& at : maxima_)
    if ((*this)(at)[0] >= -height) region.maxima.emplace_back(region.frame.coordinates(at));
  for (int growth = 0; growth < kMostGrowths; ++growth) {
    LevelPieces pieces(region);
    (void)pieces.along(0, MatrixXd(0, 1), false);
    bool grown = false;
    for (Index i = 0; i < n; ++i) {
      const double more = kGrowth * (region.upper[i] - region.lower[i]);
      if (pieces.touches_lower(i) && region.lower[i] > least[i]) {
        region.lower[i] = std::max(region.lower[i] - more, least[i]);
        grown = true;
      }
      if (pieces.touches_upper(i) && region.upper[i] < most[i]) {
        region.upper[i] = std::min(region.upper[i] + more, most[i]);
        grown = true;
      }
    }
    if (!grown) {
      const VectorXd lower = pieces.least(), upper = pieces.most();
      region.lower = region.lower.cwiseMax(lower);
      region.upper = region.upper.cwiseMin(upper);
      return region;
    }
    if (region.upper.maxCoeff() > kFarthest || region.lower.minCoeff() < -kFarthest) return std::nullopt;
  }
  return std::nullopt;
}

bool Landscape::look_closer(const LevelRegion& region) {
  const int steps = domain_.dimension() == 2 ? 256 : 48;
  std::vector<std::vector<double>> axes;
  for (Index i = 0; i < domain_.dimension(); ++i) {
    axes.emplace_back();
    for (int k = 0; k <= steps; ++k)
      axes.back().push_back(std::lerp(region.lower[i], region.upper[i], static_cast<double>(k) / steps));
  }
  const std::size_t before = maxima_.size();
  const double old_top = top_;
  if (!add_maxima(region.frame, axes)) return false;
  settle_top();
  // Those outside of the region tell nothing.
  bool any = top_ > old_top;
  for (std::size_t m = before; m < maxima_.size(); ++m) any = any || (*this)(maxima_[m])[0] >= -region.height;
  return any;
}

}  // namespace fenchel::detail
