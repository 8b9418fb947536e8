#pragma once

/// `EllipticalCovariance`: of the estimators of a beta-Gaussian on R^N, entry by entry.

#include <utility>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {
namespace detail {

/// The covariances of estimators of a beta-Gaussian times the weight of the sample; infinite or NaN where
/// moments are.
struct EllipticalErrors {
  double pairs, whole;  ///< of Sigma: pairs (S_ik S_jl + S_il S_jk) + whole S_ij S_kl for S_ij and S_kl
  double mean_scale;    ///< of the mean and Sigma: 0, NaN where it does not exist
  double alpha;         ///< of alpha
  double alpha_scale;   ///< of alpha and Sigma: alpha_scale S_ij
};

}  // namespace detail

/// The covariance matrix of alpha, where it is estimated, the mean, and the lower triangle of Sigma, row by
/// row. Its entries are computed when they are asked for, of 2 N^2 numbers.
class FENCHEL_EXPORT EllipticalCovariance {
 public:
  /// `covariance` is that of the distribution.
  EllipticalCovariance(const detail::EllipticalErrors& errors, bool with_alpha, Eigen::MatrixXd covariance,
                       Eigen::MatrixXd Sigma, double weight)
      : errors_(errors),
        first_(with_alpha ? 1 : 0),
        covariance_(std::move(covariance)),
        Sigma_(std::move(Sigma)),
        weight_(weight) {}

  [[nodiscard]] index_t rows() const noexcept { return first_ + n() + n() * (n() + 1) / 2; }
  [[nodiscard]] index_t cols() const noexcept { return rows(); }
  /// Of the parameters i and j, counted from 0.
  [[nodiscard]] double operator()(index_t i, index_t j) const { return entry(place(i), place(j)); }
  [[nodiscard]] Eigen::VectorXd diagonal() const;
  /// All entries: 2 (N (N + 3))^2 bytes, 3 GB for N = 200.
  [[nodiscard]] Eigen::MatrixXd matrix() const;

 private:
  /// What a parameter is: alpha, an entry i of the mean, or one of Sigma.
  struct Place {
    enum { kAlpha, kMean, kScale } kind;
    index_t i, j;
  };

  [[nodiscard]] index_t n() const noexcept { return Sigma_.rows(); }
  [[nodiscard]] Place place(index_t parameter) const;
  [[nodiscard]] double entry(const Place& a, const Place& b) const;

  detail::EllipticalErrors errors_;
  index_t first_;  // of the mean
  Eigen::MatrixXd covariance_, Sigma_;
  double weight_;
};

}  // namespace fenchel
