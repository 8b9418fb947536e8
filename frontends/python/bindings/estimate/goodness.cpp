#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/array_source.hpp"
#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/families.hpp"
#include "bindings/estimate/refit.hpp"
#include "bindings/gil.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/capped.hpp"
#include "fenchel/estimate/fit/smooth.hpp"
#include "fenchel/estimate/fit/sparse_integer_gaussian.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"
#include "fenchel/estimate/goodness/bootstrap.hpp"
#include "fenchel/estimate/goodness/compare.hpp"
#include "fenchel/estimate/goodness/goodness.hpp"

namespace fenchel::python {
namespace {

Eigen::VectorXd to_vector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<index_t>(values.size()));
}

/// In the order of Python's Goodness: its numbers, and the warnings.
std::pair<std::vector<double>, std::vector<std::string>> result(const Goodness& found) {
  return {
      {found.weight, found.outside, found.log_likelihood, found.log_likelihood_inside, found.aic, found.bic,
       found.loss, found.crps, found.distances.kolmogorov_smirnov, found.distances.anderson_darling},
      found.warnings};
}

/// Of a distribution that was fitted, by what its fit says.
template <class P>
void bind_goodness_of(nb::module_& m) {
  m.def(
      "goodness",
      [](const P& p, std::vector<std::string> names, const std::vector<double>& parameters,
         const std::vector<double>& standard_errors, double loss, const InputRows& rows,
         const std::optional<Input<>>& weights, std::vector<std::string> columns) {
        const detail::FitSummary fit =
            detail::summary(p, std::move(names), to_vector(parameters), to_vector(standard_errors), loss);
        return result(with_data(rows, weights, std::move(columns), 0,
                                [&](const Data& data) { return detail::goodness_of(p, fit, data); }));
      },
      nb::arg("distribution"), nb::arg("names"), nb::arg("parameters"), nb::arg("standard_errors"),
      nb::arg("loss"), nb::arg("rows"), nb::arg("weights").none(), nb::arg("columns"));
}

/// The p-values of the two distances, the parameters of the fits to draws, and how many there were without.
template <class P, class F>
void bind_bootstrap_of(nb::module_& m, const F& fit) {
  m.def(
      "bootstrap",
      [fit](const P& p, Shape shape, double weight, double kolmogorov_smirnov, double anderson_darling,
            index_t replicates, std::uint64_t seed) {
        const Bootstrap found = without_gil([&] {
          return detail::bootstrap_of(p, weight, {kolmogorov_smirnov, anderson_darling},
                                      [&](const Data& data) { return fit_to_data(fitter(fit, shape), data); },
                                      {.replicates = replicates, .seed = seed});
        });
        return std::tuple(found.p_values.kolmogorov_smirnov, found.p_values.anderson_darling,
                          matrix_to_array(found.parameters), found.failed);
      },
      nb::arg("distribution"), nb::arg("shape").none(), nb::arg("weight"), nb::arg("kolmogorov_smirnov"),
      nb::arg("anderson_darling"), nb::arg("replicates"), nb::arg("seed"));
}

/// A candidate as Python names it: what messages call it, fit_NAME, and its shape.
using Choice = std::tuple<std::string, std::string, Shape>;

Candidate candidate_of(const Choice& choice) {
  const auto& [name, fit, shape] = choice;
#define FENCHEL_FIND(P, of, omega) \
  if (fit == #of)                  \
    return candidate(              \
        name, fitter([](const auto&... a) -> decltype(fit_##of(a...)) { return fit_##of(a...); }, shape));
  FENCHEL_LINE_FAMILIES(FENCHEL_FIND)
  FENCHEL_INTEGER_FAMILIES(FENCHEL_FIND)
#undef FENCHEL_FIND
  throw std::invalid_argument("compare: no family is called " + fit);
}

using Numbers = std::vector<double>;
/// Name, the numbers of Python's HeldOutScore in their order, whether it is close, and why there is no fit.
using Line = std::tuple<std::string, Numbers, bool, std::string>;
std::vector<Line> result(const Comparison& found) {
  std::vector<Line> lines;
  for (const HeldOutScore& score : found.scores)
    lines.emplace_back(score.name,
                       Numbers{score.crps, score.log_score, score.outside, score.crps_difference.value,
                               score.crps_difference.standard_error, score.log_difference.value,
                               score.log_difference.standard_error},
                       score.close, score.failure);
  return lines;
}

std::pair<Output<>, Output<>> result(const ConfidenceIntervals& intervals) {
  return {vector_to_array(intervals.lower), vector_to_array(intervals.upper)};
}

}  // namespace

void bind_goodness(nb::module_& m) {
#define FENCHEL_BIND(P, name, omega) \
  bind_goodness_of<P>(m);            \
  bind_bootstrap_of<P>(m, [](const auto&... a) -> decltype(fit_##name(a...)) { return fit_##name(a...); });
  FENCHEL_LINE_FAMILIES(FENCHEL_BIND)
  FENCHEL_INTEGER_FAMILIES(FENCHEL_BIND)
#undef FENCHEL_BIND
  bind_goodness_of<MultivariateBetaGaussian>(m);
  bind_goodness_of<LocationScale>(m);
  bind_goodness_of<NumericDensity>(m);
  m.def(
      "compare",
      [](const std::vector<Choice>& choices, const InputRows& rows, const std::optional<Input<>>& weights,
         std::vector<std::string> columns, index_t folds, std::uint64_t seed) {
        std::vector<Candidate> candidates;
        for (const Choice& choice : choices) candidates.push_back(candidate_of(choice));
        return result(with_data(rows, weights, std::move(columns), 0, [&](const Data& data) {
          return compare(candidates, data, {.folds = folds, .seed = seed});
        }));
      },
      nb::arg("choices"), nb::arg("rows"), nb::arg("weights").none(), nb::arg("columns"), nb::arg("folds"),
      nb::arg("seed"));
  m.def(
      "wald_intervals",
      [](const std::vector<double>& parameters, const std::vector<double>& standard_errors, double level) {
        return result(wald_intervals(to_vector(parameters), to_vector(standard_errors), level));
      },
      nb::arg("parameters"), nb::arg("standard_errors"), nb::arg("level"));
  m.def(
      "percentile_intervals",
      [](const InputRows& parameters, double level) {
        const Rows<const double> rows = rows_of(parameters);
        Bootstrap replicates{{}, Eigen::MatrixXd(rows.rows, rows.cols), 0};
        for (index_t i = 0; i < rows.rows; ++i)
          for (index_t j = 0; j < rows.cols; ++j)
            replicates.parameters(i, j) = rows[i][static_cast<std::size_t>(j)];
        return result(percentile_intervals(replicates, level));
      },
      nb::arg("parameters"), nb::arg("level"));
}

}  // namespace fenchel::python
