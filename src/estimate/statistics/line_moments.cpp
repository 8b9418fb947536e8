#include "fenchel/estimate/statistics/line_moments.hpp"

#include <algorithm>

#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "estimate/statistics/sums.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kWhere = "line_moments", kKind = "FLIN";
constexpr std::uint32_t kVersion = 1;

/// A sum of terms that are not negative: rounding must not make it so, and what overflowed is infinite.
DoubleDouble nonnegative(const DoubleDouble& sum) noexcept {
  if (sum.high != sum.high) return kInfinity;
  return sum.high < 0 ? DoubleDouble() : sum;
}

}  // namespace

LineMoments LineMoments::of(std::span<const double> values, std::span<const double> weights) {
  LineMoments moments;
  const Rows<const double> rows(values.data(), static_cast<index_t>(values.size()), 1);
  moments.update(rows, weights.empty() ? PerRow(1.0) : PerRow(weights));
  return moments;
}

void LineMoments::update(Rows<const double> rows, PerRow weights) {
  LineMoments next = *this;
  detail::for_each_chunk(kWhere, rows, 1, weights, [&](const detail::Chunk& chunk) {
    const double *x = chunk.column(0), *w = chunk.weights.data();
    const detail::Extremes range = detail::extremes(x, chunk.rows);
    const double weight = detail::sum(w, chunk.rows);
    const double centre = detail::rounded_mean(x, w, weight, chunk.rows);
    const detail::PowerSums sums = detail::power_sums(x, w, centre, chunk.rows);
    LineMoments part;
    part.weight_ = detail::checked_finite(kWhere, "weight", weight);
    // From moments about the centre to those about the mean, which is off it by some ulp.
    const DoubleDouble off = sums.first / part.weight_;
    part.mean_ = centre + off;
    detail::checked_finite(kWhere, "mean", part.mean_.value());
    part.second_ = nonnegative(sums.second - off * sums.first);
    part.third_ = sums.third - off * (3.0 * DoubleDouble(sums.second) - 2.0 * off * sums.first);
    part.fourth_ =
        nonnegative(sums.fourth - off * (4.0 * DoubleDouble(sums.third) -
                                         off * (6.0 * DoubleDouble(sums.second) - 3.0 * off * sums.first)));
    part.minimum_ = range.minimum;
    part.maximum_ = range.maximum;
    next.merge(part);
  });
  *this = next;
}

void LineMoments::merge(const LineMoments& other) {
  if (other.weight_.high == 0) return;
  if (weight_.high == 0) {
    *this = other;
    return;
  }
  // The moments of two parts about their common mean [Chan, Golub and LeVeque 1983; Pebay 2008].
  const DoubleDouble weight = weight_ + other.weight_, a = weight_ / weight, b = other.weight_ / weight;
  const DoubleDouble d = other.mean_ - mean_, mean = mean_ + d * b;
  detail::checked_finite(kWhere, "weight", weight.value());
  detail::checked_finite(kWhere, "mean", mean.value());
  const DoubleDouble square = d * d, between = square * weight_ * b;
  fourth_ = nonnegative(fourth_ + other.fourth_ + between * square * (a * a - a * b + b * b) +
                        6.0 * square * (a * a * other.second_ + b * b * second_) +
                        4.0 * d * (a * other.third_ - b * third_));
  third_ += other.third_ + d * (between * (a - b) + 3.0 * (a * other.second_ - b * second_));
  second_ = nonnegative(second_ + other.second_ + between);
  mean_ = mean;
  weight_ = weight;
  minimum_ = std::min(minimum_, other.minimum_);
  maximum_ = std::max(maximum_, other.maximum_);
}

double LineMoments::mean() const noexcept {
  return weight_.high > 0 ? mean_.value() : std::numeric_limits<double>::quiet_NaN();
}

double LineMoments::central_moment(int n) const {
  if (n < 2 || n > 4) throw_domain_error(kWhere, "n", "must be 2, 3 or 4", n);
  return ((n == 2 ? second_ : n == 3 ? third_ : fourth_) / weight_).value();
}

Bytes LineMoments::to_bytes() const {
  detail::ByteWriter writer(kKind, kVersion);
  for (const DoubleDouble& sum : {weight_, mean_, second_, third_, fourth_}) writer.put(sum);
  writer.put(minimum_);
  writer.put(maximum_);
  return std::move(writer).finish();
}

LineMoments LineMoments::from_bytes(std::span<const std::byte> bytes) {
  detail::ByteReader reader(kWhere, kKind, kVersion, bytes);
  reader.require(reader.left() == 12, "must hold 12 numbers");
  LineMoments read;
  for (DoubleDouble* sum : {&read.weight_, &read.mean_, &read.second_, &read.third_, &read.fourth_})
    *sum = reader.double_double();
  read.minimum_ = reader.real();
  read.maximum_ = reader.real();
  constexpr double kMax = std::numeric_limits<double>::max();
  if (read.weight_.high == 0) return {};
  reader.require(read.weight_.high > 0 && read.weight_.high <= kMax, "must hold a weight that is finite");
  reader.require(read.second_.high >= 0 && read.fourth_.high >= 0, "must hold even moments");
  reader.require(read.mean_.high >= -kMax && read.mean_.high <= kMax, "must hold a finite mean");
  reader.require(read.minimum_ >= -kMax && read.minimum_ <= read.maximum_ && read.maximum_ <= kMax,
                 "must hold finite extremes");
  return read;
}

}  // namespace fenchel
