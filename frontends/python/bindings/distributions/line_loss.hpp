#pragma once

#include <nanobind/nanobind.h>

#include <concepts>

#include "bindings/arrays/arrays.hpp"
#include "bindings/distributions/any_density.hpp"
#include "bindings/distributions/loss.hpp"
#include "bindings/gil.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/domain/line.hpp"

namespace fenchel::python {

inline const AnyDensity& as_target(const AnyDensity& q) { return q; }
inline const BetaGaussian& as_target(const BetaGaussian& q) { return q; }
inline Dirac as_target(double at) { return {at}; }
inline Empirical as_target(const Input<>& values) { return Empirical({values.data(), values.size()}); }

/// The losses of the score of p, a prediction of `omega(p)`, against targets that are given as a `From`.
template <class From, class P, class Omega>
void bind_losses_of(nb::class_<P>& family, const Omega& omega) {
  family.def("fenchel_young", [omega](const P& p, const From& q) {
    return to_python(
        without_gil<From>([&] { return fenchel_young(omega(p), score(p), Line(), as_target(q)); }));
  });
  family.def("cross_omega", [omega](const P& p, const From& q) {
    return to_python(
        without_gil<From>([&] { return cross_omega(omega(p), score(p), Line(), as_target(q)); }));
  });
}

template <class P, class Omega>
void bind_losses(const Omega& omega) {
  auto family = nb::borrow<nb::class_<P>>(nb::type<P>());
  if constexpr (std::same_as<P, BetaGaussian>) bind_losses_of<BetaGaussian>(family, omega);
  bind_losses_of<AnyDensity>(family, omega);
  bind_losses_of<double>(family, omega);
  bind_losses_of<Input<>>(family, omega);
}

}  // namespace fenchel::python
