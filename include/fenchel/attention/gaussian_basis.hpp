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

/// Gaussian radial basis functions on the line, psi_j(t) = N(t; mu_j, sigma_j^2): densities, so that each
/// integrates to one [SCD22, Section 8].
class FENCHEL_EXPORT GaussianBasis {
 public:
  /// Throws std::invalid_argument when there is no function or the sizes differ, std::domain_error unless
  /// mu is finite and sigma positive and finite.
  GaussianBasis(std::vector<double> mu, std::vector<double> sigma);

  /// For each sigma in turn `count / sigma.size()` functions, their mu evenly spaced from lower to upper,
  /// both ends included; `count` must be a multiple of the number of sigma. The paper's basis for audio is
  /// linearly_spaced(128, 0, 1, {.1, .5}).
  [[nodiscard]] static GaussianBasis linearly_spaced(index_t count, double lower, double upper,
                                                     std::span<const double> sigma);
  [[nodiscard]] static GaussianBasis linearly_spaced(index_t count, double lower, double upper,
                                                     std::initializer_list<double> sigma = {.1, .5}) {
    return linearly_spaced(count, lower, upper, std::span<const double>(sigma.begin(), sigma.size()));
  }

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(mu_.size()); }
  [[nodiscard]] std::span<const double> mu() const noexcept { return mu_; }
  [[nodiscard]] std::span<const double> sigma() const noexcept { return sigma_; }
  /// The same about mu + by. Throws as the constructor does.
  [[nodiscard]] GaussianBasis moved(double by) const;
  [[nodiscard]] cpu::GaussianFunctions functions() const noexcept;

 private:
  std::vector<double> mu_, sigma_, variances_;
};

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd evaluate(const GaussianBasis& psi, double t);

static_assert(LineBasis<GaussianBasis>);

}  // namespace fenchel
