#include "fenchel/estimate/regression/regression.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/array_source.hpp"
#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/integer_number.hpp"
#include "bindings/estimate/estimators.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/estimate/regression/count_regression.hpp"
#include "fenchel/estimate/regression/deviance.hpp"

namespace fenchel::python {
namespace {

ScaleLink link_of(bool logarithmic) { return logarithmic ? ScaleLink::log : ScaleLink::linear; }

NoiseLoss noise_loss_of(const std::string& name) {
  for (const NoiseLoss loss : {NoiseLoss::automatic, NoiseLoss::cross_omega}) {
    if (name == to_string(loss)) return loss;
  }
  return NoiseLoss::likelihood;
}

void bind_regression_fit(nb::module_& m) {
  nb::class_<RegressionFit> fit(m, "RegressionFit");
  fit.def(
         "__init__",
         [](RegressionFit* made, double alpha, bool logarithmic, const Input<>& mean, double mean_intercept,
            const Input<>& scale, double scale_intercept) {
           if (mean.size() != scale.size())
             throw_invalid_argument("regression_fit", "scale coefficients",
                                    "must be as many as those of the mean",
                                    shortest(static_cast<index_t>(scale.size())));
           RegressionFit parts{};
           parts.alpha = alpha;
           parts.link = link_of(logarithmic);
           parts.mean_coefficients = vector_of(mean);
           parts.mean_intercept = mean_intercept;
           parts.scale_coefficients = vector_of(scale);
           parts.scale_intercept = scale_intercept;
           new (made) RegressionFit(std::move(parts));
         },
         "What predictions need, of a fit made before.")
      .def_prop_ro(
          "coefficients", [](const RegressionFit& f) { return vector_to_array(f.mean_coefficients); },
          nb::rv_policy::move)
      .def_ro("intercept", &RegressionFit::mean_intercept)
      .def_prop_ro(
          "scale_coefficients", [](const RegressionFit& f) { return vector_to_array(f.scale_coefficients); },
          nb::rv_policy::move)
      .def_ro("scale_intercept", &RegressionFit::scale_intercept)
      .def_prop_ro(
          "standard_errors", [](const RegressionFit& f) { return vector_to_array(f.mean_errors()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "scale_standard_errors", [](const RegressionFit& f) { return vector_to_array(f.scale_errors()); },
          nb::rv_policy::move)
      .def_ro("scale_penalty", &RegressionFit::scale_penalty)
      .def_ro("wanted_scale_penalty", &RegressionFit::wanted_scale_penalty)
      .def_prop_ro("noise_loss", [](const RegressionFit& f) { return std::string(to_string(f.noise_loss)); })
      .def_prop_ro("starts",
                   [](const RegressionFit& f) {
                     std::vector<std::tuple<double, int, std::string>> starts;
                     for (const RegressionStart& start : f.starts)
                       starts.emplace_back(start.objective, start.iterations, to_string(start.status));
                     return starts;
                   })
      .def("predict", &predictions<RegressionFit>)
      .def("deviations",
           [](const RegressionFit& f, const InputRows& x) {
             return map_predictions(f, x,
                                    [](const BetaGaussian& p, index_t) { return std::sqrt(variance(p)); });
           })
      .def("quantiles",
           [](const RegressionFit& f, const InputRows& x, double probability) {
             return map_predictions(f, x,
                                    [=](const BetaGaussian& p, index_t) { return quantile(p, probability); });
           })
      .def("survival_quantiles", [](const RegressionFit& f, const InputRows& x, double probability) {
        return map_predictions(
            f, x, [=](const BetaGaussian& p, index_t) { return survival_quantile(p, probability); });
      });
  bind_log_densities<RegressionFit>(fit);
  bind_search<RegressionFit>(fit);
  m.def(
      "fit_regression",
      [](const InputRows& rows, const std::optional<Input<>>& weights, std::vector<std::string> names,
         double alpha, bool logarithmic, double penalty, std::optional<double> scale_penalty,
         const std::string& noise_loss, int starts, std::uint64_t seed, double tolerance,
         int max_iterations) {
        const RegressionOptions options{.alpha = alpha,
                                        .link = link_of(logarithmic),
                                        .penalty = penalty,
                                        .scale_penalty = scale_penalty,
                                        .noise_loss = noise_loss_of(noise_loss),
                                        .starts = starts,
                                        .seed = seed,
                                        .minimize = minimize_options(tolerance, max_iterations)};
        return with_data(rows, weights, std::move(names), 0,
                         [&](const Data& data) { return fit_regression(data, options); });
      },
      nb::arg("rows"), nb::arg("weights").none(), nb::arg("names"), nb::arg("alpha"), nb::arg("logarithmic"),
      nb::arg("penalty"), nb::arg("scale_penalty").none(), nb::arg("noise_loss"), nb::arg("starts"),
      nb::arg("seed"), nb::arg("tolerance"), nb::arg("max_iterations"));
}

void bind_count_regression_fit(nb::module_& m) {
  nb::class_<CountRegressionFit> fit(m, "CountRegressionFit");
  fit.def(
         "__init__",
         [](CountRegressionFit* made, double alpha, const Input<>& coefficients, double intercept) {
           CountRegressionFit parts{};
           parts.alpha = alpha;
           parts.coefficients = vector_of(coefficients);
           parts.intercept = intercept;
           new (made) CountRegressionFit(std::move(parts));
         },
         "What predictions need, of a fit made before.")
      .def_prop_ro(
          "coefficients", [](const CountRegressionFit& f) { return vector_to_array(f.coefficients); },
          nb::rv_policy::move)
      .def_ro("intercept", &CountRegressionFit::intercept)
      .def_prop_ro(
          "standard_errors", [](const CountRegressionFit& f) { return vector_to_array(f.standard_errors()); },
          nb::rv_policy::move)
      .def("predict", &predictions<CountRegressionFit>)
      .def("means",
           [](const CountRegressionFit& f, const InputRows& x) {
             return map_predictions(f, x, [](const SparsePoisson& p, index_t) { return mean(p); });
           })
      .def("quantiles",
           [](const CountRegressionFit& f, const InputRows& x, double probability) {
             return map_predictions(
                 f, x, [=](const SparsePoisson& p, index_t) { return to_number(quantile(p, probability)); });
           })
      .def("survival_quantiles",
           [](const CountRegressionFit& f, const InputRows& x, double probability) {
             return map_predictions(f, x, [=](const SparsePoisson& p, index_t) {
               return to_number(survival_quantile(p, probability));
             });
           })
      .def("explained_deviance", [](const CountRegressionFit& f, const InputRows& rows,
                                    const std::optional<Input<>>& weights, std::vector<std::string> names) {
        return with_data(rows, weights, std::move(names), 0,
                         [&](const Data& data) { return explained_deviance(f, data); });
      });
  bind_log_densities<CountRegressionFit>(fit);
  bind_search<CountRegressionFit>(fit);
  m.def(
      "fit_count_regression",
      [](const InputRows& rows, const std::optional<Input<>>& weights, std::vector<std::string> names,
         double alpha, double penalty, double tolerance, int max_iterations) {
        const CountRegressionOptions options{
            .alpha = alpha, .penalty = penalty, .minimize = minimize_options(tolerance, max_iterations)};
        return with_data(rows, weights, std::move(names), 0,
                         [&](const Data& data) { return fit_count_regression(data, options); });
      },
      nb::arg("rows"), nb::arg("weights").none(), nb::arg("names"), nb::arg("alpha"), nb::arg("penalty"),
      nb::arg("tolerance"), nb::arg("max_iterations"));
}

}  // namespace

void bind_regression(nb::module_& m) {
  bind_regression_fit(m);
  bind_count_regression_fit(m);
}

}  // namespace fenchel::python
