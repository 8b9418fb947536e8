#pragma once

#include <optional>

#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"

/// Fits of one family, whatever they are made from.
namespace fenchel::python {

/// The family's own parameter, which is estimated where there is none.
using Shape = std::optional<double>;

/// fit(shape, source), or fit(source) where there is none and the family can.
template <class F, class Source>
[[nodiscard]] auto fit_to(const F& fit, Shape shape, const Source& source) {
  if constexpr (requires { fit(source); }) {
    if (!shape) return fit(source);
  }
  return fit(shape.value(), source);
}

/// The fits of this shape to the statistics that suffice, or to data.
template <class F>
[[nodiscard]] auto fitter(const F& fit, Shape shape) {
  if constexpr (requires(const LineMoments& moments) { fit(1.0, moments); })
    return [fit, shape](const LineMoments& of) { return fit_to(fit, shape, of); };
  else if constexpr (requires(const CountHistogram& counts) { fit(1.0, counts); })
    return [fit, shape](const CountHistogram& of) { return fit_to(fit, shape, of); };
  else
    return [fit, shape](const Data& of) { return fit_to(fit, shape, of); };
}

}  // namespace fenchel::python
