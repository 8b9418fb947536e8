#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"
#include "bindings/distributions/families.hpp"
#include "bindings/distributions/loss.hpp"
#include "bindings/distributions/score_functions.hpp"
#include "bindings/python_function.hpp"
#include "bindings/score.hpp"
#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/reparametrization.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/location_scale.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/loss/scaled_gaussian.hpp"
#include "fenchel/loss/sobolev.hpp"
#include "fenchel/loss/total_variation.hpp"
#include "fenchel/predict/sobolev_function.hpp"
#include "fenchel/predict/total_variation_function.hpp"

namespace fenchel::python {
namespace {

template <class P, class Omega>
void bind_family(const Omega& omega) {
  auto family = nb::borrow<nb::class_<P>>(nb::type<P>());
  bind_score_functions(family, omega);
  if constexpr (detail::DifferentiableExpectation<P>) {
    family.def("expectation_gradient", [](const P& p, const Function& f) {
      return named_gradient(expectation_gradient(p, PythonFunction("func", f)));
    });
  }
}

/// The same functions of a score of Python functions on an interval.
template <class Omega, class Score>
void bind_function_scores() {
  auto family = nb::borrow<nb::class_<NumericDensity>>(nb::type<NumericDensity>());
#define FENCHEL_BIND(function)                                                                    \
  if constexpr (requires(const Omega& omega, const Score& f, const Interval& domain) {            \
                  function(omega, as_score(f), domain);                                           \
                })                                                                                \
    family.def_static(#function, [](const Omega& omega, const Score& f, const Interval& domain) { \
      return function(omega, as_score(f), domain);                                                \
    });
  FENCHEL_BIND(conjugate)
  FENCHEL_BIND(normalizer)
  FENCHEL_BIND(normalizer_gradient)
  FENCHEL_BIND(normalizer_hessian)
  FENCHEL_BIND(fenchel_young_hessian)
#undef FENCHEL_BIND
}

}  // namespace

void bind_line_derivatives() {
#define FENCHEL_BIND(P, name, omega) bind_family<P>([]([[maybe_unused]] const P& p) { return omega; });
  FENCHEL_LINE_FAMILIES(FENCHEL_BIND)
#undef FENCHEL_BIND
  bind_family<LocationScale>([](const LocationScale&) { return Tsallis(2); });
  bind_function_scores<Tsallis, LinearScore>();
  bind_function_scores<TotalVariation, LinearScore>();
  bind_function_scores<Sobolev, LinearScore>();
  bind_function_scores<Tsallis, ParametricScore>();
  bind_function_scores<TotalVariation, ParametricScore>();
  bind_function_scores<Sobolev, ParametricScore>();
  bind_function_scores<Tsallis, Function>();
  bind_function_scores<TotalVariation, Function>();
  bind_function_scores<Sobolev, Function>();
  nb::borrow<nb::class_<BetaGaussian>>(nb::type<BetaGaussian>())
      .def("sample_derivatives",
           [](const BetaGaussian& p, double t) { return named_gradient(sample_derivatives(p, t)); });
}

}  // namespace fenchel::python
