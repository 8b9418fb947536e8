#pragma once

/// `GaussianBasis`: Gaussian functions on the line.

#include <Eigen/Core>
#include <initializer_list>
#include <span>
#include <vector>

#include "fenchel/attention/basis.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// Gaussian radial basis functions on the line, psi_j(t) = N(t; mean_j, width_j^2): densities, so that each
/// integrates to one [SCD22, Section 8].
class FENCHEL_EXPORT GaussianBasis {
 public:
  /// Throws std::invalid_argument when there is no function or the sizes differ, std::domain_error unless
  /// means are finite and widths positive and finite.
  GaussianBasis(std::vector<double> means, std::vector<double> widths);

  /// For each width in turn `count / widths` functions, their means evenly spaced from lower to upper, both
  /// ends included; `count` must be a multiple of the number of widths. The paper's basis for audio is
  /// linearly_spaced(128, 0, 1, {.1, .5}).
  [[nodiscard]] static GaussianBasis linearly_spaced(index_t count, double lower, double upper,
                                                     std::span<const double> widths);
  [[nodiscard]] static GaussianBasis linearly_spaced(index_t count, double lower, double upper,
                                                     std::initializer_list<double> widths) {
    return linearly_spaced(count, lower, upper, std::span<const double>(widths.begin(), widths.size()));
  }

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(means_.size()); }
  [[nodiscard]] std::span<const double> means() const noexcept { return means_; }
  [[nodiscard]] std::span<const double> widths() const noexcept { return widths_; }
  [[nodiscard]] cpu::GaussianFunctions functions() const noexcept;

 private:
  std::vector<double> means_, widths_, variances_;
};

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd evaluate(const GaussianBasis& psi, double t);

static_assert(LineBasis<GaussianBasis>);

}  // namespace fenchel
