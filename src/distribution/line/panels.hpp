#pragma once

#include <span>
#include <vector>

#include "core/quadrature/gauss_kronrod.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/domain/interval.hpp"

/// Integrals of densities with several modes, known by a callable: adaptive panels that start at the modes.
namespace fenchel::detail {

/// A point near which there is mass, and how far it reaches to either side.
struct Centre {
  double at, left, right;
};

/// `at` with the distances over which the log density falls by about one, or rises, within the piece.
[[nodiscard]] Centre make_centre(FunctionRef<double(double)> log_density, double at, const Interval& piece);

/// Those of `at`, which is sorted, that lie in the pieces, and one for each piece without any.
[[nodiscard]] std::vector<Centre> make_centres(FunctionRef<double(double)> log_density,
                                               std::span<const Interval> pieces, std::span<const double> at);

struct PanelSum {
  std::vector<Panel> panels;  ///< sorted, without overlap
  Panel rest{};               ///< beyond them, where a tail falls like a power too slow to reach its end
  double value = 0, error = 0, scale = 0;
  bool finite = true;  ///< false when a tail does not fall: the integral is taken not to exist
  bool converged = false;
};

/// The integral of f over the pieces: from each centre, in order, panels that double outwards, halved where
/// the error is largest until the sum of the errors, less those that halving shows to be rounding, is at most
/// accuracy times the integral of |f|. A tail ends where the panels, continued at the ratio of the last two,
/// add less than kTailShare of their side. With a finite `bound` of f, which is then not negative, the ends
/// of panels are looked at, too.
[[nodiscard]] PanelSum integrate_panels(FunctionRef<double(double)> f, std::span<const Interval> pieces,
                                        std::span<const Centre> centres, double accuracy,
                                        double bound = kInfinity);

/// The same from given panels of the pieces on, and from these outwards to infinite ends.
[[nodiscard]] PanelSum integrate_from(FunctionRef<double(double)> f, std::span<const Interval> pieces,
                                      std::span<const Panel> panels, double accuracy,
                                      double bound = kInfinity);

/// `sum`, an integral of f to this accuracy, refined until a second rule on shifted panels, which keep some
/// of the ends, agrees to ten times the accuracy. The error is at least the difference.
[[nodiscard]] PanelSum certified(PanelSum sum, FunctionRef<double(double)> f,
                                 std::span<const Interval> pieces, FunctionRef<bool(double)> kept,
                                 double accuracy, double bound = kInfinity);

inline constexpr double kTailShare = 1e-17;

}  // namespace fenchel::detail
