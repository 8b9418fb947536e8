#include "estimate/regression/standardization.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "estimate/fit/checks.hpp"
#include "estimate/statistics/byte_format.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::detail {
namespace {

constexpr std::string_view kKind = "FCOL";
constexpr std::uint32_t kVersion = 1;
constexpr double kLeastSpread = 1e-12;  // of a column over its mean: below, it is constant

/// The weighted sums of columns and of their squares, in double-double: the squares are exact, so the
/// variance keeps its digits where the mean is large.
class ColumnSums {
 public:
  ColumnSums(std::string_view where, index_t targets, index_t columns, const TargetCheck& check)
      : where_(where), targets_(targets), check_(&check), sums_(static_cast<std::size_t>(columns)) {}

  void update(Rows<const double> rows, PerRow weights) {
    for (index_t i = 0; i < rows.rows; ++i) {
      const std::span<const double> row = rows[i];
      const double w = weights[i];
      if (!(w >= 0 && w <= std::numeric_limits<double>::max()))
        throw BadEntry(where_, "weight", "must be finite and not negative", i, kWeightColumn, w);
      (*check_)(i, row.first(static_cast<std::size_t>(targets_)));
      weight_ += w;
      for (index_t k = 0; k < rows.cols; ++k) {
        const double x = row[static_cast<std::size_t>(k)];
        if (!std::isfinite(x)) throw BadEntry(where_, "feature", "must be finite", i, k, x);
        Sums& sums = sums_[static_cast<std::size_t>(k)];
        const DoubleDouble weighted = DoubleDouble(x) * w;
        sums.first += weighted;
        sums.second += weighted * x;
      }
    }
  }
  void merge(const ColumnSums& other) {
    weight_ += other.weight_;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      sums_[k].first += other.sums_[k].first;
      sums_[k].second += other.sums_[k].second;
    }
  }
  [[nodiscard]] Bytes to_bytes() const {
    ByteWriter writer(kKind, kVersion);
    writer.put(weight_);
    for (const Sums& sums : sums_) {
      writer.put(sums.first);
      writer.put(sums.second);
    }
    return std::move(writer).finish();
  }
  void merge_bytes(std::span<const std::byte> bytes) {
    ByteReader reader(where_, kKind, kVersion, bytes);
    reader.require(reader.left() == 2 + 4 * sums_.size(), "must have as many columns");
    ColumnSums other(*this);
    other.weight_ = reader.double_double();
    for (Sums& sums : other.sums_) {
      sums.first = reader.double_double();
      sums.second = reader.double_double();
    }
    merge(other);
  }

  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  [[nodiscard]] double mean(index_t k) const { return (at(k).first / weight_).value(); }
  /// Infinite where the squares are.
  [[nodiscard]] double variance(index_t k) const {
    const DoubleDouble mean = at(k).first / weight_;
    const double variance = (at(k).second / weight_ - mean * mean).value();
    return std::isnan(variance) ? kInfinity : variance;
  }

 private:
  struct Sums {
    DoubleDouble first, second;
  };
  [[nodiscard]] const Sums& at(index_t k) const { return sums_[static_cast<std::size_t>(k)]; }

  std::string_view where_;
  index_t targets_;
  const TargetCheck* check_;
  DoubleDouble weight_;
  std::vector<Sums> sums_;
};

}  // namespace

std::vector<std::string> feature_names(const BatchSource& source, index_t targets) {
  const auto names = source.names();
  return {names.begin() + targets, names.end()};
}

Eigen::VectorXd inverse_or_zero(const Eigen::VectorXd& deviation) {
  return deviation.unaryExpr([](double s) { return s > 0 ? 1 / s : 0; });
}

Standardization standardize(std::string_view where, const Data& data, index_t targets,
                            const TargetCheck& check, double penalty) {
  const index_t columns = data.source.columns(), features = columns - targets;
  if (features < 0)
    throw_invalid_argument(where, "columns", "must number at least " + shortest(targets), columns);
  const ColumnSums sums = collect(data, ColumnSums(where, targets, columns, check));
  check_total_weight(where, sums.weight());
  Eigen::VectorXd mean(features), deviation(features);
  for (index_t k = 0; k < features; ++k) {
    const std::string column = column_name(data.source.names(), targets + k);
    mean[k] = sums.mean(targets + k);
    deviation[k] = std::sqrt(checked_finite(where, "the variance of " + column, sums.variance(targets + k)));
    if (deviation[k] > kLeastSpread * std::abs(mean[k])) continue;
    if (penalty == 0) throw_domain_error(where, column, "must vary unless the penalty is positive", mean[k]);
    deviation[k] = 0;
  }
  return {feature_names(data.source, targets), sums.weight(), sums.mean(0), mean, inverse_or_zero(deviation)};
}

}  // namespace fenchel::detail
