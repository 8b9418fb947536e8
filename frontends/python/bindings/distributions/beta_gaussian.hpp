#pragma once

#include "bindings/arrays/arrays.hpp"
#include "bindings/distributions/line_distribution.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"

/// The kernels over arrays that this family has.
namespace fenchel::python {

template <>
Output<double> pdf_array<BetaGaussian>(const BetaGaussian& p, const Input<>& t);
template <>
Output<double> log_pdf_array<BetaGaussian>(const BetaGaussian& p, const Input<>& t);
template <>
Output<double> quantile_array<BetaGaussian>(const BetaGaussian& p, const Input<>& u);

}  // namespace fenchel::python
