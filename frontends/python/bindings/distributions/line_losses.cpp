#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>

#include <concepts>

#include "bindings/arrays/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/any_density.hpp"
#include "bindings/distributions/loss.hpp"
#include "bindings/gil.hpp"
#include "bindings/python_function.hpp"
#include "bindings/score.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/location_scale.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/loss/scaled_gaussian.hpp"
#include "fenchel/loss/sobolev.hpp"
#include "fenchel/loss/sobolev_function.hpp"
#include "fenchel/loss/total_variation.hpp"
#include "fenchel/loss/total_variation_function.hpp"
#include "fenchel/score/linear_score.hpp"
#include "fenchel/score/parametric_score.hpp"

namespace fenchel::python {
namespace {

const AnyDensity& as_target(const AnyDensity& q) { return q; }
const BetaGaussian& as_target(const BetaGaussian& q) { return q; }
Dirac as_target(double at) { return {at}; }
Empirical as_target(const Input<>& values) { return Empirical({values.data(), values.size()}); }

/// The losses of the score of p, a prediction of `omega(p)`, against targets that are given as a `From`.
template <class From, class P, class Omega>
void bind_losses_of(nb::class_<P>& family, const Omega& omega) {
  family.def("fenchel_young", [omega](const P& p, const From& q) {
    return to_python(
        without_gil<P, From>([&] { return fenchel_young(omega(p), score(p), Line(), as_target(q)); }));
  });
  family.def("cross_omega", [omega](const P& p, const From& q) {
    return to_python(
        without_gil<P, From>([&] { return cross_omega(omega(p), score(p), Line(), as_target(q)); }));
  });
  if constexpr (requires(const P& p, const From& q) {
                  fenchel_young_hessian(omega(p), score(p), Line(), as_target(q));
                }) {
    family.def("fenchel_young_hessian_at", [omega](const P& p, const From& q) {
      return without_gil<P, From>(
          [&] { return fenchel_young_hessian(omega(p), score(p), Line(), as_target(q)); });
    });
  }
}

template <class P, class Omega>
void bind_losses(const Omega& omega) {
  auto family = nb::borrow<nb::class_<P>>(nb::type<P>());
  if constexpr (std::same_as<P, BetaGaussian>) bind_losses_of<BetaGaussian>(family, omega);
  bind_losses_of<AnyDensity>(family, omega);
  bind_losses_of<double>(family, omega);
  bind_losses_of<Input<>>(family, omega);
}

/// The losses of a score of Python functions on an interval.
template <class Omega, class Score, class From>
void bind_function_losses_of(nb::class_<NumericDensity>& family) {
  family.def_static("fenchel_young",
                    [](const Omega& omega, const Score& f, const Interval& domain, const From& q) {
                      return to_python(fenchel_young(omega, as_score(f), domain, as_target(q)));
                    });
  family.def_static("cross_omega",
                    [](const Omega& omega, const Score& f, const Interval& domain, const From& q) {
                      return to_python(cross_omega(omega, as_score(f), domain, as_target(q)));
                    });
}

template <class Omega, class Score>
void bind_function_losses() {
  auto family = nb::borrow<nb::class_<NumericDensity>>(nb::type<NumericDensity>());
  bind_function_losses_of<Omega, Score, AnyDensity>(family);
  bind_function_losses_of<Omega, Score, double>(family);
  bind_function_losses_of<Omega, Score, Input<>>(family);
}

}  // namespace

void bind_line_losses() {
#define FENCHEL_BIND(P, name, omega) bind_losses<P>([]([[maybe_unused]] const P& p) { return omega; });
  FENCHEL_LINE_FAMILIES(FENCHEL_BIND)
#undef FENCHEL_BIND
  bind_losses<LocationScale>([](const LocationScale&) { return Tsallis(2); });
  bind_function_losses<Tsallis, Function>();
  bind_function_losses<TotalVariation, Function>();
  bind_function_losses<Sobolev, Function>();
  bind_function_losses<Tsallis, LinearScore>();
  bind_function_losses<TotalVariation, LinearScore>();
  bind_function_losses<Sobolev, LinearScore>();
  bind_function_losses<Tsallis, ParametricScore>();
  bind_function_losses<TotalVariation, ParametricScore>();
  bind_function_losses<Sobolev, ParametricScore>();
}

}  // namespace fenchel::python
