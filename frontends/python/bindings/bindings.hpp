#pragma once

#include <nanobind/nanobind.h>

/// The module fenchel._core: C++ objects and functions over arrays, for the Python files beside it, which say
/// what users see. It checks no arguments of its own beyond types: those files and the library do.
namespace fenchel::python {

namespace nb = nanobind;

void bind_any_density(nb::module_& m);
void bind_arrow(nb::module_& m);
void bind_attend(nb::module_& m);
void bind_attend_rows(nb::module_& m);
void bind_basis(nb::module_& m);
void bind_beta_gaussian();
void bind_classification(nb::module_& m);
void bind_composition(nb::module_& m);
void bind_density(nb::module_& m);
void bind_elliptical(nb::module_& m);
void bind_entmax(nb::module_& m);
void bind_entmax_loss(nb::module_& m);
void bind_weighted_entmax(nb::module_& m);
void bind_errors(nb::module_& m);
void bind_finite_attention(nb::module_& m);
void bind_fit(nb::module_& m);
void bind_fusedmax(nb::module_& m);
void bind_geometry(nb::module_& m);
void bind_goodness(nb::module_& m);
void bind_integers(nb::module_& m);
void bind_line_derivatives();
void bind_line_families(nb::module_& m);
void bind_line_losses();
void bind_location_scale(nb::module_& m);
void bind_mixture(nb::module_& m);
void bind_mixture_em(nb::module_& m);
void bind_multivariate_beta_gaussian(nb::module_& m);
void bind_multivariate_numeric_density(nb::module_& m);
void bind_negentropy(nb::module_& m);
void bind_numeric_density(nb::module_& m);
void bind_regression(nb::module_& m);
void bind_regularizers(nb::module_& m);
void bind_ridge(nb::module_& m);
void bind_statistics(nb::module_& m);
void bind_torch_signals(nb::module_& m);

}  // namespace fenchel::python
