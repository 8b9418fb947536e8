#pragma once

#include <cmath>
#include <vector>

#include "fenchel/backend/cpu/beta_gaussian.hpp"
#include "support/grids.hpp"

namespace fenchel::testing {

/// Straddles 1 closely and names the exact powers; alpha > 1 - 2/n for n up to 3.
inline const std::vector<double> kBetaGaussianAlphas{
    0.55, 0.9, std::nextafter(1.0, 0.0), 1, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 1.7, 2, 5,
    1e6,  kInf};

/// An n-dimensional beta-Gaussian with a full lower triangular factor, which owns what its params view.
class BetaGaussianCase {
 public:
  BetaGaussianCase(double alpha, index_t n) : size_(static_cast<std::size_t>(n)), mu_(size_) {
    factor_.resize(size_ * size_);
    whitening_.resize(size_ * size_);
    double log_det = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      mu_[i] = 0.3 - 0.7 * static_cast<double>(i % 3);
      for (std::size_t j = 0; j < i; ++j)
        factor_[i * size_ + j] = 0.4 * std::sin(static_cast<double>(3 * i + j));
      const double diagonal = 0.6 + 0.3 * static_cast<double>((i * 7) % 5);
      factor_[i * size_ + i] = diagonal;
      log_det += 2 * std::log(diagonal);
    }
    for (std::size_t j = 0; j < size_; ++j) {  // the inverse, column by column
      for (std::size_t i = j; i < size_; ++i) {
        double rest = i == j ? 1 : 0;
        for (std::size_t k = j; k < i; ++k) rest -= factor_[i * size_ + k] * whitening_[k * size_ + j];
        whitening_[i * size_ + j] = rest / factor_[i * size_ + i];
      }
    }
    constants_ = beta_gaussian_constants(n, alpha - 1, log_det);
  }

  [[nodiscard]] cpu::BetaGaussianParams params() const {
    const auto n = static_cast<index_t>(size_);
    return {constants_, mu_, {whitening_.data(), n, n}, {factor_.data(), n, n}};
  }
  [[nodiscard]] const BetaGaussianConstants& constants() const { return constants_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] double mu(std::size_t i) const { return mu_[i]; }
  [[nodiscard]] double factor(std::size_t i, std::size_t j) const { return factor_[i * size_ + j]; }
  [[nodiscard]] double whitening(std::size_t i, std::size_t j) const { return whitening_[i * size_ + j]; }

 private:
  std::size_t size_;
  std::vector<double> mu_, factor_, whitening_;
  BetaGaussianConstants constants_{};
};

}  // namespace fenchel::testing
