#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/index.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel::detail {

/// What makes the features of a table, the columns after its targets, of mean 0 and standard deviation 1.
struct Standardization {
  std::vector<std::string> names;     ///< of the features
  double weight;                      ///< of all rows
  double target_mean;                 ///< of the first column
  Eigen::VectorXd mean;               ///< of the features
  Eigen::VectorXd inverse_deviation;  ///< 0 for a constant feature, which is 0 then

  /// The features of a row, as they are in the table.
  void apply(std::span<const double> features, Eigen::Ref<Eigen::VectorXd> z) const {
    const Eigen::Map<const Eigen::VectorXd> raw(features.data(), z.size());
    z = (raw - mean).cwiseProduct(inverse_deviation);
  }
  /// What makes coefficients of raw features and, last, the intercept from those of standardised ones.
  [[nodiscard]] Eigen::MatrixXd to_raw() const {
    const index_t size = mean.size();
    Eigen::MatrixXd raw = Eigen::MatrixXd::Identity(size + 1, size + 1);
    raw.topLeftCorner(size, size) = inverse_deviation.asDiagonal();
    raw.row(size).head(size) = -mean.cwiseProduct(inverse_deviation).transpose();
    return raw;
  }
};

/// The names of the columns after the targets.
[[nodiscard]] std::vector<std::string> feature_names(const BatchSource& source, index_t targets);

/// 1 / deviation, 0 for a constant.
[[nodiscard]] Eigen::VectorXd inverse_or_zero(const Eigen::VectorXd& deviation);

/// Throws BadEntry where the targets of a row cannot be used.
using TargetCheck = std::function<void(index_t row, std::span<const double> targets)>;

/// One pass over the data, in which every entry and weight is checked. Throws, in the name of `where`,
/// std::invalid_argument for fewer columns than targets, std::domain_error for data of no weight and, unless
/// the penalty is positive, for a feature that is constant to twelve digits.
[[nodiscard]] Standardization standardize(std::string_view where, const Data& data, index_t targets,
                                          const TargetCheck& check, double penalty);

}  // namespace fenchel::detail
