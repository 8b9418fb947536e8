#include <nanobind/stl/string.h>

#include <string>

#include "bindings/bindings.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/version.hpp"

NB_MODULE(_core, m) {
  using namespace fenchel::python;
  nb::set_leak_warnings(false);  // what a program still holds when it ends is no leak
  const auto [major, minor, patch] = fenchel::kVersion;
  m.attr("version") =
      nb::cast(std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch));
  m.def("num_threads", &fenchel::num_threads);
  m.def("set_num_threads", &fenchel::set_num_threads, nb::arg("count"));
  bind_errors(m);
  bind_arrow(m);

  bind_entmax(m);
  bind_entmax_loss(m);
  bind_weighted_entmax(m);
  bind_fusedmax(m);
  bind_negentropy(m);

  // Families come before what speaks of them.
  bind_regularizers(m);
  bind_numeric_density(m);
  bind_line_families(m);
  bind_location_scale(m);
  bind_beta_gaussian();
  bind_integers(m);
  bind_multivariate_beta_gaussian(m);
  bind_multivariate_numeric_density(m);
  bind_elliptical(m);
  bind_mixture(m);
  bind_any_density(m);
  bind_line_losses();
  bind_line_derivatives();
  bind_geometry(m);

  bind_basis(m);
  bind_attend(m);
  bind_attend_rows(m);
  bind_ridge(m);
  bind_mixture_em(m);
  bind_composition(m);
  bind_finite_attention(m);

  bind_statistics(m);
  bind_fit(m);
  bind_density(m);
  bind_goodness(m);
  bind_classification(m);
  bind_regression(m);

  bind_torch_signals(m);
}
