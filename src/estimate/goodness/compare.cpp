#include "fenchel/estimate/goodness/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "estimate/goodness/folds.hpp"
#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "compare";
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A candidate's fits, one for each fold that is left out, or why there are none.
struct Fitted {
  std::vector<RowScorer> of_fold;
  std::string failure;
};

/// Sums over held-out rows of the scores of all candidates, and of their products in pairs.
class HeldOutSums {
 public:
  explicit HeldOutSums(const std::vector<Fitted>& fits)
      : fits_(&fits),
        outside_(fits.size()),
        ranked_(fits.size()),
        logs_(fits.size()),
        ranked_products_(fits.size() * fits.size()),
        log_products_(fits.size() * fits.size()) {}

  void update(Rows<const double> rows, PerRow weights) {
    detail::check_entries(kWhere, rows, 2, weights);
    const std::size_t n = fits_->size();
    std::vector<double> ranked(n), logs(n);
    for (index_t i = 0; i < rows.rows; ++i) {
      const double w = weights[i];
      if (w == 0) continue;
      const auto fold = static_cast<std::size_t>(rows.row(i)[1]);
      weight_ += w;
      for (std::size_t c = 0; c < n; ++c) {
        const RowScore score = (*fits_)[c].of_fold[fold](rows[i].first(1));
        const bool inside = score.log_density > -kInfinity;
        ranked[c] = score.ranked;
        logs[c] = inside ? score.log_density : 0;
        if (!inside) outside_[c] += w;
        ranked_[c] += w * ranked[c];
        logs_[c] += w * logs[c];
        for (std::size_t other = 0; other <= c; ++other) {
          ranked_products_[c * n + other] += w * ranked[c] * ranked[other];
          log_products_[c * n + other] += w * logs[c] * logs[other];
        }
      }
    }
  }
  void merge(const HeldOutSums& other) {
    weight_ += other.weight_;
    for (const auto part : kParts) add(this->*part, other.*part);
  }
  [[nodiscard]] Bytes to_bytes() const {
    detail::ByteWriter writer("FCMP", 1);
    writer.put(weight_);
    for (const auto part : kParts)
      for (const DoubleDouble& sum : this->*part) writer.put(sum);
    return std::move(writer).finish();
  }
  void merge_bytes(std::span<const std::byte> bytes) {
    detail::ByteReader reader(kWhere, "FCMP", 1, bytes);
    HeldOutSums read(*fits_);
    const std::size_t n = fits_->size();
    reader.require(reader.left() == 2 * (1 + 3 * n + 2 * n * n), "must hold the sums of all candidates");
    read.weight_ = reader.double_double();
    for (const auto part : kParts)
      for (DoubleDouble& sum : read.*part) sum = reader.double_double();
    merge(read);
  }

  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  [[nodiscard]] double outside(std::size_t c) const { return outside_[c].value(); }
  [[nodiscard]] double ranked(std::size_t c) const { return (ranked_[c] / weight_).value(); }
  [[nodiscard]] double log_score(std::size_t c) const {
    return outside(c) > 0 ? -kInfinity : (logs_[c] / weight_).value();
  }
  [[nodiscard]] ScoreDifference ranked_difference(std::size_t c, std::size_t best) const {
    return difference(ranked_, ranked_products_, c, best);
  }
  [[nodiscard]] ScoreDifference log_difference(std::size_t c, std::size_t best) const {
    if (outside(c) > 0 || outside(best) > 0) return {kNaN, kNaN};
    return difference(logs_, log_products_, c, best);
  }

 private:
  using Sums = std::vector<DoubleDouble>;
  static void add(Sums& to, const Sums& from) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
  }
  [[nodiscard]] ScoreDifference difference(const Sums& sums, const Sums& products, std::size_t a,
                                           std::size_t b) const {
    const std::size_t n = fits_->size();
    const DoubleDouble mean = (sums[a] - sums[b]) / weight_;
    const DoubleDouble square =
        (products[a * n + a] + products[b * n + b] - products[std::max(a, b) * n + std::min(a, b)] * 2.0) /
        weight_;
    return {mean.value(), std::sqrt(std::max(0.0, (square - mean * mean).value()) / weight())};
  }

  const std::vector<Fitted>* fits_;
  DoubleDouble weight_;
  Sums outside_, ranked_, logs_, ranked_products_, log_products_;
  static constexpr Sums HeldOutSums::*kParts[] = {&HeldOutSums::outside_, &HeldOutSums::ranked_,
                                                  &HeldOutSums::logs_, &HeldOutSums::ranked_products_,
                                                  &HeldOutSums::log_products_};
};

bool is_of_counts(const Candidate& candidate) {
  return std::holds_alternative<Candidate::OfCounts>(candidate.fit);
}

void check(const std::vector<Candidate>& candidates, const ComparisonOptions& options) {
  constexpr index_t kMostFolds = 1 << 20;
  if (candidates.empty()) throw_invalid_argument(kWhere, "candidates", "must not be empty", "none");
  if (options.folds < 2 || options.folds > kMostFolds)
    throw_invalid_argument(kWhere, "folds", "must be at least 2 and at most 2^20", options.folds);
  for (const Candidate& candidate : candidates)
    if (is_of_counts(candidate) != is_of_counts(candidates[0]))
      throw_invalid_argument(kWhere, "candidates", "must all be of counts, or all of numbers",
                             candidates[0].name + " and " + candidate.name);
}

template <class Of>
bool any_of(const std::vector<Candidate>& candidates) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [](const Candidate& candidate) { return std::holds_alternative<Of>(candidate.fit); });
}

/// Fits all folds but one, for each.
class Fitter {
 public:
  Fitter(const std::vector<Candidate>& candidates, const Data& data, const detail::Folds& folds)
      : data_(data), folds_(folds) {
    const detail::FoldSource source(data.source, folds);
    const Data in_folds{source, data.processes, data.progress};
    if (any_of<Candidate::OfMoments>(candidates))
      moments_ = collect(in_folds, detail::FoldStatistics<LineMoments>(folds.count));
    if (any_of<Candidate::OfCounts>(candidates))
      counts_ = collect(in_folds, detail::FoldStatistics<CountHistogram>(folds.count));
  }

  [[nodiscard]] Fitted operator()(const Candidate& candidate) const {
    Fitted fits;
    try {
      for (index_t fold = 0; fold < folds_.count; ++fold)
        fits.of_fold.push_back(std::visit([&](const auto& fit) { return of(fit, fold); }, candidate.fit));
    } catch (const std::domain_error& error) {
      fits.failure = error.what();
    } catch (const ConvergenceError& error) {
      fits.failure = error.what();
    }
    return fits;
  }

 private:
  [[nodiscard]] RowScorer of(const Candidate::OfMoments& fit, index_t fold) const {
    return fit(moments_->without(fold));
  }
  [[nodiscard]] RowScorer of(const Candidate::OfCounts& fit, index_t fold) const {
    return fit(counts_->without(fold));
  }
  [[nodiscard]] RowScorer of(const Candidate::OfData& fit, index_t fold) const {
    const detail::TrainingSource source(data_.source, folds_, fold);
    return fit({source, data_.processes, data_.progress});
  }

  const Data& data_;
  detail::Folds folds_;
  std::optional<detail::FoldStatistics<LineMoments>> moments_;
  std::optional<detail::FoldStatistics<CountHistogram>> counts_;
};

}  // namespace

Comparison compare(const std::vector<Candidate>& candidates, const Data& data,
                   const ComparisonOptions& options) {
  check(candidates, options);
  const detail::Folds folds{options.folds, options.seed};
  const Fitter fitter(candidates, data, folds);
  std::vector<Fitted> fits;
  std::vector<HeldOutScore> scores, failures;
  for (const Candidate& candidate : candidates) {
    Fitted fitted = fitter(candidate);
    const bool failed = !fitted.failure.empty();
    (failed ? failures : scores)
        .push_back({candidate.name, kNaN, kNaN, kNaN, {kNaN, kNaN}, {kNaN, kNaN}, false, fitted.failure});
    if (!failed) fits.push_back(std::move(fitted));
  }
  if (fits.empty()) throw_invalid_argument(kWhere, "candidates", "must fit the data", failures[0].failure);

  const detail::FoldSource source(data.source, folds);
  const HeldOutSums sums = collect({source, data.processes, data.progress}, HeldOutSums(fits));
  std::size_t winner = 0, likeliest = 0;
  for (std::size_t c = 1; c < fits.size(); ++c) {
    if (sums.ranked(c) < sums.ranked(winner)) winner = c;
    if (sums.log_score(c) > sums.log_score(likeliest)) likeliest = c;
  }
  for (std::size_t c = 0; c < fits.size(); ++c) {
    HeldOutScore& score = scores[c];
    score.crps = sums.ranked(c);
    score.log_score = sums.log_score(c);
    score.outside = sums.outside(c);
    score.crps_difference = sums.ranked_difference(c, winner);
    score.log_difference = sums.log_difference(c, likeliest);
    score.close = c == winner || score.crps_difference.value < 2 * score.crps_difference.standard_error;
  }
  std::stable_sort(scores.begin(), scores.end(),
                   [](const HeldOutScore& a, const HeldOutScore& b) { return a.crps < b.crps; });
  scores.insert(scores.end(), failures.begin(), failures.end());
  return {sums.weight(), scores};
}

}  // namespace fenchel
