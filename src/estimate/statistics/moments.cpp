#include "fenchel/estimate/statistics/moments.hpp"

#include <limits>

#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "estimate/statistics/sums.hpp"
#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kWhere = "moments", kKind = "FMOM";
constexpr std::uint32_t kVersion = 1;

std::size_t triangle(std::size_t dimension) noexcept { return dimension * (dimension + 1) / 2; }

std::size_t checked_dimension(index_t dimension) {
  if (dimension < 1) throw_invalid_argument(kWhere, "dimension", "must be positive", dimension);
  return static_cast<std::size_t>(dimension);
}

}  // namespace

Moments::Moments(index_t dimension) : mean_(checked_dimension(dimension)), scatter_(triangle(mean_.size())) {}

Moments Moments::of(Rows<const double> rows, PerRow weights) {
  Moments moments(rows.cols);
  moments.update(rows, weights);
  return moments;
}

void Moments::update(Rows<const double> rows, PerRow weights) {
  Moments next = *this, part(dimension());
  std::vector<double> centred, weighted;
  std::vector<DoubleDouble> off(mean_.size());
  detail::for_each_chunk(kWhere, rows, dimension(), weights, [&](const detail::Chunk& chunk) {
    const index_t n = chunk.rows;
    const double* w = chunk.weights.data();
    centred.resize(chunk.values.size());
    weighted.resize(static_cast<std::size_t>(chunk.capacity));
    const double weight = detail::sum(w, n);
    part.weight_ = weight;
    std::size_t k = 0;
    for (index_t i = 0; i < dimension(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double* x = chunk.column(i);
      const double centre = detail::rounded_mean(x, w, weight, n);
      detail::centre_column(x, w, centre, n, centred.data() + i * chunk.capacity, weighted.data());
      // The mean is off the centre by some ulp; the scatter is about the mean.
      const double first = detail::sum(weighted.data(), n);
      off[at] = first / part.weight_;
      part.mean_[at] = centre + off[at];
      for (std::size_t j = 0; j <= at; ++j) {
        const double* other = centred.data() + static_cast<index_t>(j) * chunk.capacity;
        part.scatter_[k++] = detail::weighted_sum(weighted.data(), other, n) - off[j] * first;
      }
      if (part.scatter_[k - 1].high < 0) part.scatter_[k - 1] = 0.0;
    }
    next.merge(part);
  });
  *this = std::move(next);
}

void Moments::merge(const Moments& other) {
  if (other.dimension() != dimension())
    throw_invalid_argument(kWhere, "dimension", "must be " + shortest(dimension()), other.dimension());
  if (other.weight_.high == 0) return;
  const DoubleDouble weight = weight_ + other.weight_, b = other.weight_ / weight;
  detail::checked_finite(kWhere, "weight", weight.value());
  std::vector<DoubleDouble> mean(mean_.size()), off(mean_.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    off[i] = other.mean_[i] - mean_[i];
    mean[i] = weight_.high == 0 ? other.mean_[i] : mean_[i] + off[i] * b;
    detail::checked_finite(kWhere, "mean", mean[i].value());
  }
  if (weight_.high == 0) {
    scatter_ = other.scatter_;
  } else {
    // The scatter of two parts about their common mean [Chan, Golub and LeVeque 1983].
    const DoubleDouble factor = weight_ * b;
    std::size_t k = 0;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const DoubleDouble scaled = factor * off[i];
      for (std::size_t j = 0; j <= i; ++j, ++k) scatter_[k] += other.scatter_[k] + scaled * off[j];
    }
  }
  mean_ = std::move(mean);
  weight_ = weight;
}

Eigen::VectorXd Moments::mean() const {
  Eigen::VectorXd mean = Eigen::VectorXd::Constant(dimension(), std::numeric_limits<double>::quiet_NaN());
  if (weight_.high > 0) {
    for (index_t i = 0; i < dimension(); ++i) mean[i] = mean_[static_cast<std::size_t>(i)].value();
  }
  return mean;
}

Eigen::MatrixXd Moments::covariance() const {
  Eigen::MatrixXd covariance(dimension(), dimension());
  std::size_t k = 0;
  for (index_t i = 0; i < dimension(); ++i) {
    for (index_t j = 0; j <= i; ++j) covariance(i, j) = covariance(j, i) = (scatter_[k++] / weight_).value();
  }
  return covariance;
}

Bytes Moments::to_bytes() const {
  detail::ByteWriter writer(kKind, kVersion);
  writer.put(dimension());
  writer.put(weight_);
  for (const DoubleDouble& mean : mean_) writer.put(mean);
  for (const DoubleDouble& sum : scatter_) writer.put(sum);
  return std::move(writer).finish();
}

Moments Moments::from_bytes(std::span<const std::byte> bytes) {
  constexpr double kMax = std::numeric_limits<double>::max();
  detail::ByteReader reader(kWhere, kKind, kVersion, bytes);
  const std::uint64_t dimension = reader.number(), left = reader.left();
  reader.require(dimension > 0 && dimension < left && left == 2 + 2 * dimension + 2 * triangle(dimension),
                 "must hold as many numbers as their dimension asks for");
  Moments read(static_cast<index_t>(dimension));
  read.weight_ = reader.double_double();
  for (DoubleDouble& mean : read.mean_) mean = reader.double_double();
  for (DoubleDouble& sum : read.scatter_) sum = reader.double_double();
  if (read.weight_.high == 0) return Moments(read.dimension());
  reader.require(read.weight_.high > 0 && read.weight_.high <= kMax, "must hold a weight that is finite");
  for (std::size_t i = 0; i < read.mean_.size(); ++i) {
    reader.require(read.mean_[i].high >= -kMax && read.mean_[i].high <= kMax, "must hold a finite mean");
    reader.require(!(read.scatter_[triangle(i + 1) - 1].high < 0), "must hold variances");
  }
  return read;
}

}  // namespace fenchel
