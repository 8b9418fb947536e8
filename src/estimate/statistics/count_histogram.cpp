#include "fenchel/estimate/statistics/count_histogram.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "estimate/statistics/weight_table.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kWhere = "count_histogram", kKind = "FCNT";
constexpr std::uint32_t kVersion = 1;
constexpr index_t kLargest = index_t{1} << 53;  // every integer up to it is a double

DoubleDouble sum_of(const std::map<index_t, DoubleDouble>& table) noexcept {
  DoubleDouble sum;
  for (const auto& [value, weight] : table) sum += weight;
  return sum;
}

}  // namespace

CountHistogram CountHistogram::of(std::span<const double> values, std::span<const double> weights) {
  CountHistogram histogram;
  histogram.update({values.data(), static_cast<index_t>(values.size()), 1},
                   weights.empty() ? PerRow(1.0) : PerRow(weights));
  return histogram;
}

void CountHistogram::update(Rows<const double> rows, PerRow weights) {
  detail::check_shape(kWhere, rows, 1, weights);
  std::vector<index_t> keys(static_cast<std::size_t>(rows.rows));
  std::vector<double> key_weights(weights.per_row() ? keys.size() : 0);
  std::size_t count = 0;
  for (index_t i = 0; i < rows.rows; ++i) {
    const double value = rows.row(i)[0], weight = weights[i];
    const auto key = std::abs(value) <= kLargest ? static_cast<index_t>(value) : index_t{0};
    if (static_cast<double>(key) != value)
      throw BadEntry(kWhere, "value", "must be an integer of absolute value at most 2^53", i, 0, value);
    detail::check_weight(kWhere, weight, i);
    keys[count] = key;
    if (weights.per_row()) key_weights[count] = weight;
    count += weight > 0;
  }
  keys.resize(count);
  CountHistogram batch;
  detail::add_weights(keys, weights.per_row() ? PerRow(key_weights) : weights, batch.table_);
  batch.weight_ = sum_of(batch.table_);
  merge(batch);
}

void CountHistogram::merge(const CountHistogram& other) {
  const DoubleDouble weight = weight_ + other.weight_;
  detail::checked_finite(kWhere, "weight", weight.value());
  for (const auto& [value, more] : other.table_) table_[value] += more;
  weight_ = weight;
}

DoubleDouble CountHistogram::exact_mean() const noexcept {
  DoubleDouble sum;
  for (const auto& [value, weight] : table_) sum += weight * static_cast<double>(value);
  return sum / weight_;
}

double CountHistogram::mean() const noexcept { return exact_mean().value(); }

double CountHistogram::variance() const noexcept {
  const DoubleDouble centre = exact_mean();
  DoubleDouble sum;
  for (const auto& [value, weight] : table_) {
    const DoubleDouble off = static_cast<double>(value) - centre;
    sum += weight * off * off;
  }
  return (sum / weight_).value();
}

std::vector<index_t> CountHistogram::values() const {
  std::vector<index_t> values;
  for (const auto& [value, weight] : table_) values.push_back(value);
  return values;
}

std::vector<double> CountHistogram::weights() const {
  std::vector<double> weights;
  for (const auto& [value, weight] : table_) weights.push_back(weight.value());
  return weights;
}

Bytes CountHistogram::to_bytes() const {
  detail::ByteWriter writer(kKind, kVersion);
  for (const auto& [value, weight] : table_) {
    writer.put(value);
    writer.put(weight);
  }
  return std::move(writer).finish();
}

CountHistogram CountHistogram::from_bytes(std::span<const std::byte> bytes) {
  detail::ByteReader reader(kWhere, kKind, kVersion, bytes);
  reader.require(reader.left() % 3 == 0, "must hold three numbers for each value");
  CountHistogram read;
  while (reader.left() > 0) {
    const index_t value = reader.index();
    const DoubleDouble weight = reader.double_double();
    reader.require(value >= -kLargest && value <= kLargest, "must hold integers up to 2^53");
    reader.require(read.table_.empty() || read.table_.rbegin()->first < value, "must hold ascending values");
    reader.require(weight.high > 0, "must hold positive weights");
    read.table_.emplace_hint(read.table_.end(), value, weight);
  }
  read.weight_ = sum_of(read.table_);
  reader.require(read.weight_.high <= std::numeric_limits<double>::max(),
                 "must hold a weight that is finite");
  return read;
}

}  // namespace fenchel
