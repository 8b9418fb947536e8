#include "fenchel/estimate/statistics/radial_moments.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "estimate/statistics/sums.hpp"
#include "fenchel/core/check.hpp"
#include "score/factorizations.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kWhere = "radial_moments", kKind = "FRAD";
constexpr std::uint32_t kVersion = 1;

Eigen::MatrixXd cholesky(const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance) {
  if (mean.size() == 0) throw_invalid_argument(kWhere, "mean", "must not be empty", index_t{0});
  if (covariance.rows() != mean.size() || covariance.cols() != mean.size())
    throw_invalid_argument(kWhere, "covariance", "must have as many rows and columns as the mean",
                           shortest(covariance.rows()) + " x " + shortest(covariance.cols()));
  for (const double m : mean) detail::checked_finite(kWhere, "mean", m);
  const Eigen::LLT<Eigen::MatrixXd> decomposition(covariance);
  Eigen::MatrixXd factor = decomposition.matrixL();
  if (decomposition.info() != Eigen::Success || !covariance.allFinite() || !factor.allFinite() ||
      !(factor.diagonal().minCoeff() > 0))
    throw std::domain_error(
        error_message(kWhere, "covariance", "must be finite and positive definite", "another matrix"));
  return factor;
}

}  // namespace

RadialMoments::RadialMoments(Eigen::VectorXd mean, Eigen::MatrixXd covariance)
    : mean_(std::move(mean)), covariance_(std::move(covariance)), factor_(cholesky(mean_, covariance_)) {}

void RadialMoments::update(Rows<const double> rows, PerRow weights) {
  RadialMoments next = *this;
  Eigen::MatrixXd whitened;
  Eigen::VectorXd q;
  detail::for_each_chunk(kWhere, rows, dimension(), weights, [&](const detail::Chunk& chunk) {
    const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> values(
        chunk.column(0), chunk.rows, dimension(), Eigen::OuterStride<>(chunk.capacity));
    whitened = (values.rowwise() - mean_.transpose()).transpose();
    factor_.triangularView<Eigen::Lower>().solveInPlace(whitened);
    q = whitened.colwise().squaredNorm().transpose();
    const double* w = chunk.weights.data();
    next.weight_ += detail::sum(w, chunk.rows);
    next.first_ += detail::weighted_sum(q.data(), w, chunk.rows);
    q = q.cwiseAbs2().eval();
    next.second_ += detail::weighted_sum(q.data(), w, chunk.rows);
  });
  detail::checked_finite(kWhere, "weight", next.weight());
  *this = std::move(next);
}

void RadialMoments::merge(const RadialMoments& other) {
  if (other.mean_ != mean_ || other.covariance_ != covariance_)
    throw_invalid_argument(kWhere, "mean and covariance", "must be the same", "others");
  const DoubleDouble weight = weight_ + other.weight_;
  detail::checked_finite(kWhere, "weight", weight.value());
  weight_ = weight;
  first_ += other.first_;
  second_ += other.second_;
}

Bytes RadialMoments::to_bytes() const {
  detail::ByteWriter writer(kKind, kVersion);
  writer.put(dimension());
  for (const DoubleDouble& sum : {weight_, first_, second_}) writer.put(sum);
  for (const double x : mean_) writer.put(x);
  for (const double x : covariance_.reshaped()) writer.put(x);
  return std::move(writer).finish();
}

RadialMoments RadialMoments::from_bytes(std::span<const std::byte> bytes) {
  detail::ByteReader reader(kWhere, kKind, kVersion, bytes);
  const std::uint64_t dimension = reader.number(), left = reader.left();
  reader.require(dimension > 0 && dimension < left && left == 6 + dimension + dimension * dimension,
                 "must hold as many numbers as their dimension asks for");
  const DoubleDouble weight = reader.double_double(), first = reader.double_double(),
                     second = reader.double_double();
  reader.require(weight.high >= 0 && weight.high <= std::numeric_limits<double>::max(),
                 "must hold a weight that is finite");
  reader.require(first.high >= 0 && second.high >= 0, "must hold sums that are not negative");
  Eigen::VectorXd mean(static_cast<index_t>(dimension));
  Eigen::MatrixXd covariance(mean.size(), mean.size());
  for (double& x : mean) x = reader.real();
  for (double& x : covariance.reshaped()) x = reader.real();
  try {
    RadialMoments read(std::move(mean), std::move(covariance));
    read.weight_ = weight;
    read.first_ = first;
    read.second_ = second;
    return read;
  } catch (const std::domain_error&) {
    reader.refuse("must hold a mean and a covariance", "other content");
  }
}

}  // namespace fenchel
