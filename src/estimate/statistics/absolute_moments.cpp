#include "fenchel/estimate/statistics/absolute_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "estimate/statistics/sums.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/vector_math.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kWhere = "absolute_moments", kKind = "FABS";
constexpr std::uint32_t kVersion = 1;
constexpr double kSplitError = 1e-9;  // the parts and the whole are summed in different orders
constexpr double kMax = std::numeric_limits<double>::max();

void raise(std::span<const double> x, double power, std::span<double> out) {
  if (power == 1)
    std::copy(x.begin(), x.end(), out.begin());
  else
    vector_pow(x, power, out);
}

}  // namespace

AbsoluteMoments::AbsoluteMoments(double centre, std::vector<double> powers)
    : centre_(detail::checked_finite(kWhere, "centre", centre)),
      powers_(std::move(powers)),
      sums_(powers_.size()) {
  for (std::size_t k = 0; k < powers_.size(); ++k)
    detail::checked_positive(kWhere, indexed("powers", static_cast<index_t>(k)), powers_[k]);
}

AbsoluteMoments AbsoluteMoments::of(double centre, std::span<const double> values,
                                    std::span<const double> weights, std::vector<double> powers) {
  AbsoluteMoments moments(centre, std::move(powers));
  moments.update({values.data(), static_cast<index_t>(values.size()), 1},
                 weights.empty() ? PerRow(1.0) : PerRow(weights));
  return moments;
}

void AbsoluteMoments::update(Rows<const double> rows, PerRow weights) {
  AbsoluteMoments next = *this;
  std::vector<double> distances, terms;
  detail::for_each_chunk(kWhere, rows, 1, weights, [&](const detail::Chunk& chunk) {
    const double *x = chunk.column(0), *w = chunk.weights.data();
    const auto n = static_cast<std::size_t>(chunk.rows);
    distances.resize(n);
    terms.resize(n);
    detail::distances(x, centre_, chunk.rows, distances.data());
    next.weight_ += detail::sum(w, chunk.rows);
    const detail::Sides sides = detail::side_weights(x, w, centre_, chunk.rows);
    next.below_ += sides.below;
    next.above_ += sides.above;
    for (std::size_t k = 0; k < powers_.size(); ++k) {
      raise(distances, powers_[k], terms);
      next.sums_[k] += detail::weighted_sum(terms.data(), w, chunk.rows);
    }
  });
  detail::checked_finite(kWhere, "weight", next.weight());
  *this = std::move(next);
}

void AbsoluteMoments::merge(const AbsoluteMoments& other) {
  if (other.centre_ != centre_)
    throw_invalid_argument(kWhere, "centre", "must be " + shortest(centre_), shortest(other.centre_));
  if (other.powers_ != powers_) throw_invalid_argument(kWhere, "powers", "must be the same", "others");
  const DoubleDouble weight = weight_ + other.weight_;
  detail::checked_finite(kWhere, "weight", weight.value());
  weight_ = weight;
  below_ += other.below_;
  above_ += other.above_;
  for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k] += other.sums_[k];
}

double AbsoluteMoments::moment(index_t k) const {
  if (k < 0 || k >= static_cast<index_t>(sums_.size()))
    throw_invalid_argument(kWhere, "k", "must be the index of a power", k);
  return (sums_[static_cast<std::size_t>(k)] / weight_).value();
}

Bytes AbsoluteMoments::to_bytes() const {
  detail::ByteWriter writer(kKind, kVersion);
  writer.put(centre_);
  for (const DoubleDouble& weight : {weight_, below_, above_}) writer.put(weight);
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    writer.put(powers_[k]);
    writer.put(sums_[k]);
  }
  return std::move(writer).finish();
}

AbsoluteMoments AbsoluteMoments::from_bytes(std::span<const std::byte> bytes) {
  detail::ByteReader reader(kWhere, kKind, kVersion, bytes);
  reader.require(reader.left() >= 7 && reader.left() % 3 == 1, "must hold three numbers for each power");
  const double centre = reader.real();
  const DoubleDouble weight = reader.double_double(), below = reader.double_double(),
                     above = reader.double_double();
  std::vector<double> powers;
  std::vector<DoubleDouble> sums;
  while (reader.left() > 0) {
    powers.push_back(reader.real());
    sums.push_back(reader.double_double());
    reader.require(powers.back() > 0 && powers.back() <= kMax, "must hold positive powers");
    reader.require(sums.back().high >= 0, "must hold sums that are not negative");
  }
  reader.require(std::abs(centre) <= kMax, "must hold a finite centre");
  reader.require(weight.high >= 0 && weight.high <= kMax, "must hold a weight that is finite");
  const double whole = (1 + kSplitError) * weight.high;
  reader.require(below.high >= 0 && below.high <= whole && above.high >= 0 && above.high <= whole,
                 "must hold parts of the weight");
  AbsoluteMoments read(centre, std::move(powers));
  read.weight_ = weight;
  read.below_ = below;
  read.above_ = above;
  read.sums_ = std::move(sums);
  return read;
}

}  // namespace fenchel
