#include "estimate/standardization.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fenchel/core/check.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/byte_format.hpp"

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
    return std::isnan(variance) ? std::numeric_limits<double>::infinity() : variance;
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

Standardization standardize(std::string_view where, const Data& data, index_t targets,
                            const TargetCheck& check, double penalty) {
  const index_t columns = data.source.columns(), features = columns - targets;
  if (features < 0)
    throw_invalid_argument(where, "columns", "must number at least " + shortest(targets), columns);
  const ColumnSums sums = collect(data, ColumnSums(where, targets, columns, check));
  if (!(sums.weight() > 0))
    throw_domain_error(where, "weight of all rows", "must be positive", sums.weight());
  checked_finite(where, "weight of all rows", sums.weight());
  Standardization result{sums.weight(), sums.mean(0), Eigen::VectorXd(features), Eigen::VectorXd(features)};
  for (index_t k = 0; k < features; ++k) {
    const std::string column = "column '" + data.source.names()[static_cast<std::size_t>(targets + k)] + "'";
    const double mean = sums.mean(targets + k);
    const double variance = checked_finite(where, "variance of " + column, sums.variance(targets + k));
    const double spread = kLeastSpread * mean;
    const bool varies = variance > spread * spread;
    if (!varies && penalty == 0)
      throw_domain_error(where, column, "must vary unless the penalty is positive", mean);
    result.mean[k] = mean;
    result.inverse_deviation[k] = varies ? 1 / std::sqrt(variance) : 0;
  }
  return result;
}

}  // namespace fenchel::detail
