#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// How a run of p > 0 ends: with p' = 0 at the end of the domain, with p = 0 at a mask, or with both.
enum class RunEnd { domain, mask, free };

/// A score over T with the edges of panels on which it is smooth.
struct SmoothScore {
  std::function<double(double)> f;
  std::vector<double> edges;
};

/// Beyond this many lengths 1 / beta the penalty moves the density by less than 1e-10 of its peak.
inline constexpr double kUnfelt = 1e10;

/// Where quadrature must start to see the layers of width 1 / beta at the ends.
[[nodiscard]] std::vector<double> run_cuts(double beta, double lower, double upper);

/// How well squared slopes can be integrated: rounding of f moves p' by beta times that.
[[nodiscard]] inline double slope_accuracy(double x) { return std::min(0.1, 1e-10 + 1e-13 * x); }

/// The solution of p - p'' / beta^2 = f - tau on [lower, upper], p' = 0 at ends of the domain and p = 0 at
/// others, by Green's function [docs/math.md 6.2]. Exponentials are of what is negative only.
class SobolevRun {
 public:
  SobolevRun(std::shared_ptr<const SmoothScore> score, double beta, double tau, double lower, double upper,
             RunEnd below, RunEnd above);

  [[nodiscard]] double lower() const noexcept { return below_.at; }
  [[nodiscard]] double upper() const noexcept { return above_.at; }
  [[nodiscard]] RunEnd below() const noexcept { return below_.kind; }
  [[nodiscard]] RunEnd above() const noexcept { return above_.kind; }
  [[nodiscard]] double density(double t) const;
  [[nodiscard]] double slope(double t) const;

  /// gamma p' at the lower end and -gamma p' at the upper, 0 at ends of the domain; and their derivatives
  /// with respect to lower, upper and tau. The mass is int (f - tau) less both.
  struct Forces {
    double below, above;
    double below_by_lower, below_by_upper, below_by_tau;
    double above_by_lower, above_by_upper, above_by_tau;
  };
  [[nodiscard]] Forces forces() const;

 private:
  struct End {
    RunEnd kind;
    int side;  ///< -1 below, 1 above
    double at;
    std::vector<double> decayed;  ///< from here to the edges of the run
  };
  [[nodiscard]] double even_part(const End& end, double t) const;
  [[nodiscard]] double odd_part(const End& end, double t) const;
  template <class Kernel>
  [[nodiscard]] double towards(const End& end, double at, double last, Kernel kernel) const;
  [[nodiscard]] double decayed(const End& from, double at) const;
  [[nodiscard]] double edge(std::size_t i) const {
    return score_->edges[static_cast<std::size_t>(first_edge_) + i];
  }
  [[nodiscard]] std::optional<std::size_t> edge_towards(const End& end, double at) const;
  [[nodiscard]] double wronskian() const;

  std::shared_ptr<const SmoothScore> score_;
  double beta_, tau_;
  End below_, above_;
  index_t first_edge_, edges_;  // those of the score inside of the run
};

}  // namespace fenchel::detail
