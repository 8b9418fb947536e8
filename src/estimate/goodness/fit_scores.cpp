#include "fenchel/estimate/goodness/fit_scores.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kWhere = "fit_scores", kKind = "FSCR";
constexpr std::uint32_t kVersion = 1;
constexpr double kMax = std::numeric_limits<double>::max();

}  // namespace

RowScorer row_scorer(const MultivariateBetaGaussian& p) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return [p](std::span<const double> row) {
    const Eigen::Map<const Eigen::VectorXd> t(row.data(), static_cast<index_t>(row.size()));
    return RowScore{log_pdf(p, t), kNone, kNone, kNone};
  };
}

FitScores::FitScores(RowScorer scorer, index_t columns) : scorer_(std::move(scorer)), columns_(columns) {}

void FitScores::update(Rows<const double> rows, PerRow weights) {
  detail::check_entries(kWhere, rows, columns_, weights);
  DoubleDouble weight = weight_, outside = outside_, log_likelihood = log_likelihood_, ranked = ranked_;
  std::vector<double> below, above, of_them;
  for (index_t i = 0; i < rows.rows; ++i) {
    const double w = weights[i];
    if (w == 0) continue;
    const RowScore score = scorer_(rows[i]);
    weight += w;
    if (score.log_density == -kInfinity)
      outside += w;
    else
      log_likelihood += w * score.log_density;
    ranked += w * score.ranked;
    if (std::isnan(score.below)) continue;
    below.push_back(score.below);
    above.push_back(score.above);
    of_them.push_back(w);
  }
  detail::checked_finite(kWhere, "weight", weight.value());
  weight_ = weight;
  outside_ = outside;
  log_likelihood_ = log_likelihood;
  ranked_ = ranked;
  if (!below.empty()) probabilities_.add(below, above, of_them);
}

void FitScores::merge(const FitScores& other) {
  const DoubleDouble weight = weight_ + other.weight_;
  detail::checked_finite(kWhere, "weight", weight.value());
  weight_ = weight;
  outside_ += other.outside_;
  log_likelihood_ += other.log_likelihood_;
  ranked_ += other.ranked_;
  probabilities_.merge(other.probabilities_);
}

Bytes FitScores::to_bytes() const {
  detail::ByteWriter writer(kKind, kVersion);
  for (const DoubleDouble& sum : {weight_, outside_, log_likelihood_, ranked_}) writer.put(sum);
  probabilities_.write(writer);
  return std::move(writer).finish();
}

void FitScores::merge_bytes(std::span<const std::byte> bytes) {
  detail::ByteReader reader(kWhere, kKind, kVersion, bytes);
  reader.require(reader.left() >= 10, "must hold four sums and cells");
  FitScores read(scorer_, columns_);
  read.weight_ = reader.double_double();
  read.outside_ = reader.double_double();
  read.log_likelihood_ = reader.double_double();
  read.ranked_ = reader.double_double();
  reader.require(read.weight_.high >= 0 && read.weight_.high <= kMax && read.outside_.high >= 0 &&
                     read.outside_.high <= read.weight_.high,
                 "must hold weights that are finite");
  read.probabilities_.read(reader);
  reader.require(reader.left() == 0, "must hold nothing else");
  merge(read);
}

double FitScores::log_likelihood() const noexcept {
  return outside() > 0 ? -kInfinity : log_likelihood_inside();
}

}  // namespace fenchel
