#include "fenchel/estimate/regression/classification.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "estimate/fit/checks.hpp"
#include "estimate/regression/row_products.hpp"
#include "estimate/regression/standardization.hpp"
#include "estimate/statistics/collective.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/regression/objective.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "fit_classification";
constexpr index_t kBlockEntries = 1 << 13;  // of features worked on together: they stay in the first caches

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void check(const ClassificationOptions& options) {
  detail::checked_positive(kWhere, "alpha", options.alpha);
  if (options.classes < 2)
    throw_domain_error(kWhere, "classes", "must number at least 2", static_cast<double>(options.classes));
  detail::checked_nonnegative(kWhere, "penalty", options.penalty);
}

detail::TargetCheck label_check(const ClassificationOptions& options) {
  if (options.labels == Labels::index) {
    return [classes = options.classes](index_t row, std::span<const double> targets) {
      const double label = targets[0];
      if (!(label >= 0 && label < static_cast<double>(classes) && label == std::floor(label)))
        throw BadEntry(kWhere, "class", "must be an integer in [0, " + shortest(classes) + ")", row, 0,
                       label);
    };
  }
  return [](index_t row, std::span<const double> targets) {
    double sum = 0;
    index_t column = 0;
    for (const double q : targets) {
      if (!(q >= 0)) throw BadEntry(kWhere, "label", "must not be negative", row, column, q);
      sum += q;
      ++column;
    }
    if (!(std::abs(sum - 1) <= cpu::kTargetSumTolerance))
      throw BadEntry(kWhere, "the sum of labels", "must be 1", row, 0, sum);
  };
}

/// The problem for standardised features; parameters are those of the classes one after the other, each with
/// its coefficients, then its intercept.
class StandardProblem {
 public:
  StandardProblem(const Data& data, const ClassificationOptions& options)
      : data_(data),
        options_(options),
        targets_(options.labels == Labels::index ? 1 : options.classes),
        features_(detail::standardize(kWhere, data, targets_, label_check(options), options.penalty)) {}

  [[nodiscard]] index_t size() const noexcept { return features_.mean.size(); }
  [[nodiscard]] Eigen::VectorXd start() const {
    return Eigen::VectorXd::Zero(options_.classes * (size() + 1));
  }

  double operator()(const Eigen::VectorXd& x, Eigen::VectorXd& gradient) const {
    const ObjectiveSum mean = mean_loss(data_, std::bind_front(&StandardProblem::add, this), x);
    gradient = mean.gradient();
    matrix(gradient).leftCols(size()) += options_.penalty * matrix(x).leftCols(size());
    return mean.value() + penalty(x);
  }

  [[nodiscard]] ClassificationFit fit(const Minimum& minimum) const {
    const auto parameters = matrix(minimum.x);
    const Eigen::MatrixXd coefficients =
        parameters.leftCols(size()) * features_.inverse_deviation.asDiagonal();
    return {options_.alpha,
            features_.names,
            coefficients,
            parameters.col(size()) - coefficients * features_.mean,
            minimum.value - penalty(minimum.x),
            features_.weight,
            minimum.residual,
            minimum.iterations,
            minimum.status};
  }

 private:
  [[nodiscard]] Eigen::Map<const RowMajor> matrix(const Eigen::VectorXd& x) const {
    return {x.data(), options_.classes, size() + 1};
  }
  [[nodiscard]] Eigen::Map<RowMajor> matrix(Eigen::VectorXd& x) const {
    return {x.data(), options_.classes, size() + 1};
  }
  [[nodiscard]] double penalty(const Eigen::VectorXd& x) const {
    return options_.penalty / 2 * matrix(x).leftCols(size()).squaredNorm();
  }

  /// Replaces the scores of rows by the gradients of their losses.
  void differentiate(Rows<const double> rows, Rows<double> scores, Eigen::VectorXd& losses) const {
    const cpu::LossOutputs<double> outputs{{losses.data(), static_cast<std::size_t>(rows.rows)}, scores, {}};
    if (options_.labels == Labels::index) {
      std::vector<index_t> labels;
      for (index_t i = 0; i < rows.rows; ++i) labels.push_back(static_cast<index_t>(rows.row(i)[0]));
      cpu::entmax_loss<double>(scores, options_.alpha, cpu::ClassTargets{labels}, outputs);
    } else {
      RowMajor labels(rows.rows, scores.cols);
      for (index_t i = 0; i < rows.rows; ++i) {
        const Eigen::Map<const Eigen::RowVectorXd> row(rows.row(i), scores.cols);
        labels.row(i) = row / row.sum();
      }
      cpu::entmax_loss<double>(scores, options_.alpha,
                               cpu::SoftTargets<double>{{labels.data(), rows.rows, scores.cols}}, outputs);
    }
  }

  void add(const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights, ObjectiveSum& sum) const {
    const index_t classes = options_.classes, parameters = size() + 1;
    const index_t most = std::clamp<index_t>(kBlockEntries / parameters, 2, std::max<index_t>(2, rows.rows));
    detail::PaddedRows w(classes, parameters), slopes(classes, parameters), z(most, parameters),
        scores(most, classes);
    for (index_t k = 0; k < classes; ++k) std::copy_n(x.data() + k * parameters, parameters, w.row(k));
    for (index_t i = 0; i < most; ++i) z.row(i)[size()] = 1;
    Eigen::VectorXd losses(most);
    double weight = 0, value = 0;
    for (index_t first = 0; first < rows.rows; first += most) {
      const Rows<const double> block{rows.row(first), std::min(most, rows.rows - first), rows.cols,
                                     rows.stride};
      for (index_t i = 0; i < block.rows; ++i)
        features_.apply(block[i].subspan(static_cast<std::size_t>(targets_)),
                        Eigen::Map<Eigen::VectorXd>(z.row(i), size()));
      detail::multiply_rows(z, block.rows, w, scores);
      differentiate(block, {scores.row(0), block.rows, classes, scores.stride()}, losses);
      index_t sloping = 0;  // rows come first that have a slope: those of sparse losses are few
      for (index_t i = 0; i < block.rows; ++i) {
        const double row_weight = weights[first + i];
        if (row_weight == 0) continue;
        weight += row_weight;
        value += row_weight * losses[i];
        const Eigen::Map<const Eigen::VectorXd> slope(scores.row(i), classes);
        if ((slope.array() == 0).all()) continue;
        Eigen::Map<Eigen::VectorXd>(scores.row(sloping), classes) = row_weight * slope;
        if (sloping < i) std::copy_n(z.row(i), parameters, z.row(sloping));
        ++sloping;
      }
      detail::add_multiples(scores, z, sloping, slopes);
    }
    Eigen::VectorXd gradient(x.size());
    for (index_t k = 0; k < classes; ++k)
      std::copy_n(slopes.row(k), parameters, gradient.data() + k * parameters);
    sum.add(weight, value, gradient);
  }

  const Data& data_;
  const ClassificationOptions& options_;
  index_t targets_;
  detail::Standardization features_;
};

}  // namespace

ClassificationFit fit_classification(const Data& data, const ClassificationOptions& options) {
  check(options);
  const StandardProblem problem(data, options);
  return problem.fit(detail::minimize_together(data.processes, problem, problem.start(), options.minimize));
}

SparseCategorical predict(const ClassificationFit& fit, std::span<const double> features) {
  detail::check_features("predict", static_cast<index_t>(features.size()), fit.coefficients.cols());
  std::vector<double> p(static_cast<std::size_t>(fit.intercepts.size()));
  probabilities(fit, {features.data(), 1, static_cast<index_t>(features.size())},
                {p.data(), 1, fit.intercepts.size()});
  return SparseCategorical(p);
}

void probabilities(const ClassificationFit& fit, Rows<const double> features, Rows<double> p) {
  detail::check_features("probabilities", features.cols, fit.coefficients.cols());
  if (p.rows != features.rows || p.cols != fit.intercepts.size())
    throw_invalid_argument("probabilities", "p", "must have a row for each row and a column for each class",
                           shortest(p.rows) + " x " + shortest(p.cols));
  for (index_t i = 0; i < features.rows; ++i) {
    const Eigen::Map<const Eigen::VectorXd> x(features.row(i), features.cols);
    Eigen::Map<Eigen::VectorXd> scores(p.row(i), p.cols);
    scores = fit.intercepts;
    scores.noalias() += fit.coefficients * x;
  }
  cpu::entmax<double>(p, fit.alpha, p);
}

}  // namespace fenchel
