#include "fenchel/estimate/regression/objective.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/collective.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kKind = "FLOS";
constexpr std::uint32_t kVersion = 1;

/// The x of the first process, in all.
Eigen::VectorXd agreed(Processes& processes, const Eigen::VectorXd& x) {
  if (processes.size() == 1) return x;
  const auto as_bytes = std::as_bytes(std::span(x.data(), static_cast<std::size_t>(x.size())));
  const Bytes bytes = processes.exchange({Bytes(as_bytes.begin(), as_bytes.end()), nullptr},
                                         [](std::span<const Bytes> shares) { return shares[0]; });
  Eigen::VectorXd same(x.size());
  std::memcpy(same.data(), bytes.data(), std::min(bytes.size(), as_bytes.size()));
  return same;
}

}  // namespace

void ObjectiveSum::add(double weight, double value, const Eigen::VectorXd& gradient) {
  weight_ += weight;
  value_ += value;
  for (std::size_t k = 0; k < gradient_.size(); ++k) gradient_[k] += gradient[static_cast<index_t>(k)];
}

void ObjectiveSum::merge(const ObjectiveSum& other) {
  if (other.gradient_.size() != gradient_.size())
    throw_invalid_argument("objective_sum", "gradient", "must have as many entries",
                           static_cast<index_t>(other.gradient_.size()));
  weight_ += other.weight_;
  value_ += other.value_;
  for (std::size_t k = 0; k < gradient_.size(); ++k) gradient_[k] += other.gradient_[k];
}

Bytes ObjectiveSum::to_bytes() const {
  detail::ByteWriter writer(kKind, kVersion);
  writer.put(weight_);
  writer.put(value_);
  for (const DoubleDouble& g : gradient_) writer.put(g);
  return std::move(writer).finish();
}

void ObjectiveSum::merge_bytes(std::span<const std::byte> bytes) {
  detail::ByteReader reader("objective_sum", kKind, kVersion, bytes);
  reader.require(reader.left() == 4 + 2 * gradient_.size(), "must have as many parameters");
  ObjectiveSum other(static_cast<index_t>(gradient_.size()));
  other.weight_ = reader.double_double();
  reader.require(other.weight_.high >= 0, "must hold a weight that is not negative");
  other.value_ = reader.double_double();
  for (DoubleDouble& g : other.gradient_) g = reader.double_double();
  merge(other);
}

Eigen::VectorXd ObjectiveSum::gradient() const {
  Eigen::VectorXd mean(static_cast<index_t>(gradient_.size()));
  for (std::size_t k = 0; k < gradient_.size(); ++k)
    mean[static_cast<index_t>(k)] = (gradient_[k] / weight_).value();
  return mean;
}

ObjectiveSum mean_loss(const Data& data, const BatchLoss& loss, const Eigen::VectorXd& x) {
  const Eigen::VectorXd same = agreed(data.processes, x);
  return detail::collect_sums(
      data, x.size(),
      [&](Rows<const double> rows, PerRow weights, ObjectiveSum& sum) { loss(same, rows, weights, sum); });
}

}  // namespace fenchel
