#include "distribution/euclidean/level_cubature.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/quadrature/gauss_kronrod.hpp"

namespace fenchel::detail {
namespace {

constexpr int kNodes = 15;
constexpr int kMostRounds = 40;
constexpr std::size_t kMostPanels = 400;  // along one line
constexpr Eigen::Index kLinesAtOnce = 2048, kPlanesAtOnce = 64;

/// Kronrod's node i of 15, in rising order, with the weights of both rules.
struct Node {
  double x, kronrod, gauss;
};
constexpr Node node(int i) {
  const int k = i < 8 ? i : 14 - i;
  return {i < 8 ? -kKronrodNode[k] : kKronrodNode[k], kKronrod[k], k % 2 == 1 ? kGauss[k / 2] : 0};
}

}  // namespace

double AxisPanel::at(double x) const {
  const double s = from + (to - from) * (1 + x) / 2;
  return origin + width * std::pow(s, power);
}
double AxisPanel::slope(double x) const {
  const double s = from + (to - from) * (1 + x) / 2;
  return std::abs(width) * power * std::pow(s, power - 1) * (to - from) / 2;
}

LevelCubature::LevelCubature(const LevelRegion& region, Integrand integrand, double exponent, double accuracy)
    : region_(region),
      integrand_(integrand),
      exponent_(exponent),
      accuracy_(accuracy),
      pieces_(region),
      scale_(Eigen::VectorXd::Zero(region.dimension())) {}

/// d^e is analytic in s for the powers 1 and 2 where e or 2 e is whole; else it is as smooth as s^8.
int LevelCubature::power(Eigen::Index axis) const {
  if (region_.frame.stretched) return 1;
  const double e = exponent_ + static_cast<double>(region_.dimension() - 1 - axis) / 2;
  if (e < 0) return static_cast<int>(std::min(std::ceil(4 / (1 + e)), 40.0));
  if (e == std::floor(e) || e > 8) return 1;
  if (2 * e == std::floor(2 * e) || e > 3) return 2;
  return 4;
}

void LevelCubature::add_panels(Eigen::Index axis, const Interval& piece,
                               std::vector<AxisPanel>& panels) const {
  const int k = power(axis);
  std::vector<double> cuts{piece.lower()};
  for (const Eigen::VectorXd& at : region_.maxima)
    if (at[axis] > piece.lower() && at[axis] < piece.upper()) cuts.push_back(at[axis]);
  if (region_.frame.stretched)
    for (const double at : {-20., -6., -2., 2., 6., 20.})
      if (at > piece.lower() && at < piece.upper()) cuts.push_back(at);
  if (k > 1 && cuts.size() == 1) cuts.push_back(piece.lower() + piece.width() / 2);
  std::sort(cuts.begin(), cuts.end());
  cuts.push_back(piece.upper());
  const double least = 1e-6 * piece.width();
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const bool first = i == 0, last = i + 2 == cuts.size();
    if (!first && !last && cuts[i + 1] - cuts[i] < least) {  // maxima that are one
      cuts[i + 1] = cuts[i];
      continue;
    }
    const double width = cuts[i + 1] - cuts[i];
    if (!(width > 0)) continue;
    if (last && !first) {
      panels.push_back({cuts[i + 1], -width, k, 0, 1});
    } else {
      panels.push_back({cuts[i], width, first && k > 1 ? k : 1, 0, 1});
    }
  }
}

LevelCubature::Values LevelCubature::values(Eigen::Index axis, const Eigen::MatrixXd& nodes) {
  if (axis < region_.dimension() - 1) {
    const std::vector<AxisSum> sums = along(axis + 1, nodes);
    Values all{Eigen::MatrixXd(sums.empty() ? 0 : sums[0].value.size(), nodes.cols()),
               Eigen::VectorXd(nodes.cols())};
    for (Eigen::Index i = 0; i < nodes.cols(); ++i) {
      all.value.col(i) = sums[static_cast<std::size_t>(i)].value;
      all.error[i] = sums[static_cast<std::size_t>(i)].error + sums[static_cast<std::size_t>(i)].inner;
    }
    return all;
  }
  const Eigen::MatrixXd t = region_.frame.points(nodes);
  const Eigen::VectorXd g = region_.g(t), volume = region_.frame.volume(nodes);
  std::vector<Eigen::Index> inside;
  for (Eigen::Index i = 0; i < g.size(); ++i)
    if (g[i] >= -region_.height) inside.push_back(i);
  Values all{Eigen::MatrixXd(), Eigen::VectorXd::Zero(nodes.cols())};
  const Eigen::MatrixXd found = integrand_(t(Eigen::all, inside), g(inside));
  all.value = Eigen::MatrixXd::Zero(found.rows(), nodes.cols());
  for (std::size_t i = 0; i < inside.size(); ++i)
    all.value.col(inside[i]) = found.col(static_cast<Eigen::Index>(i)) * volume[inside[i]];
  return all;
}

AxisSum LevelCubature::whole() { return along(0, Eigen::MatrixXd(0, 1))[0]; }

std::vector<AxisSum> LevelCubature::along(Eigen::Index axis, const Eigen::MatrixXd& prefixes) {
  const Eigen::Index step = axis == region_.dimension() - 1 ? kLinesAtOnce : kPlanesAtOnce;
  std::vector<AxisSum> all;
  for (Eigen::Index begin = 0; begin < prefixes.cols(); begin += step) {
    std::vector<AxisSum> some =
        along_some(axis, prefixes.middleCols(begin, std::min(step, prefixes.cols() - begin)));
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<AxisSum> LevelCubature::along_some(Eigen::Index axis, const Eigen::MatrixXd& prefixes) {
  struct Open {
    std::size_t prefix;
    AxisPanel panel;
  };
  const auto count = static_cast<std::size_t>(prefixes.cols());
  const std::vector<Pieces> pieces = pieces_.along(axis, prefixes);
  std::vector<AxisSum> sums(count);
  std::vector<Open> open;
  std::vector<AxisPanel> begun;
  for (std::size_t k = 0; k < count; ++k) {
    begun.clear();
    for (const Interval& piece : pieces[k]) add_panels(axis, piece, begun);
    for (AxisPanel& panel : begun) open.push_back({k, std::move(panel)});
  }
  const Eigen::Index components =
      integrand_(Eigen::MatrixXd(region_.dimension(), 0), Eigen::VectorXd()).rows();
  for (int round = 0;; ++round) {
    Eigen::MatrixXd nodes(axis + 1, static_cast<Eigen::Index>(open.size()) * kNodes);
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (int j = 0; j < kNodes; ++j) {
        const auto column = static_cast<Eigen::Index>(i) * kNodes + j;
        nodes.col(column).head(axis) = prefixes.col(static_cast<Eigen::Index>(open[i].prefix));
        nodes(axis, column) = open[i].panel.at(node(j).x);
      }
    }
    if (!open.empty()) {
      const Values found = values(axis, nodes);
      for (std::size_t i = 0; i < open.size(); ++i) {
        AxisPanel& panel = open[i].panel;
        Eigen::VectorXd gauss = Eigen::VectorXd::Zero(components), scale = gauss;
        panel.value = gauss;
        for (int j = 0; j < kNodes; ++j) {
          const auto column = static_cast<Eigen::Index>(i) * kNodes + j;
          const Node at = node(j);
          const double slope = panel.slope(at.x);
          panel.value += at.kronrod * slope * found.value.col(column);
          gauss += at.gauss * slope * found.value.col(column);
          scale += at.kronrod * slope * found.value.col(column).cwiseAbs();
          panel.inner += at.kronrod * slope * found.error[column];
          panel.density[static_cast<std::size_t>(j)] = slope * found.value(0, column);
        }
        panel.scale = scale.maxCoeff();
        panel.error = (panel.value - gauss).cwiseAbs().maxCoeff();
        if (panel.error <= 8 * std::numeric_limits<double>::epsilon() * panel.scale) panel.error = 0;
        sums[open[i].prefix].panels.push_back(std::move(panel));
      }
    }
    open.clear();
    for (std::size_t k = 0; k < count; ++k) {
      AxisSum& sum = sums[k];
      sum.value = Eigen::VectorXd::Zero(components);
      sum.error = sum.scale = sum.inner = 0;
      for (const AxisPanel& panel : sum.panels) {
        sum.value += panel.value;
        sum.error += panel.error;
        sum.scale += panel.scale;
        sum.inner += panel.inner;
      }
      scale_[axis] = std::max(scale_[axis], sum.scale);
    }
    const double share = accuracy_ * std::pow(0.1, static_cast<double>(axis));
    for (std::size_t k = 0; k < count && round < kMostRounds; ++k) {
      AxisSum& sum = sums[k];
      const double tolerance = share * (apart_ ? sum.scale : scale_[axis]);
      if (!(sum.error > tolerance) || sum.panels.size() > kMostPanels) continue;
      const double most = tolerance / (2 * static_cast<double>(sum.panels.size()));
      std::vector<AxisPanel> kept;
      for (AxisPanel& panel : sum.panels) {
        const double middle = (panel.from + panel.to) / 2;
        if (panel.error <= most || panel.to - panel.from < 0x1p-44) {
          kept.push_back(std::move(panel));
          continue;
        }
        for (const auto& [from, to] : {std::pair{panel.from, middle}, std::pair{middle, panel.to}})
          open.push_back({k, {panel.origin, panel.width, panel.power, from, to}});
      }
      sum.panels = std::move(kept);
    }
    if (open.empty()) return sums;
  }
}

}  // namespace fenchel::detail
