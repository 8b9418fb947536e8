#include "bindings/bindings.hpp"
#include "bindings/distributions/beta_gaussian.hpp"
#include "bindings/distributions/families.hpp"
#include "bindings/distributions/line_distribution.hpp"

namespace fenchel::python {
namespace {

/// A family by its three parameters, with those of the usual ones that it has.
template <class P>
void bind_family(nb::module_& m, const char* name) {
  auto family = bind_line_distribution<P>(m, name)
                    .def(nb::init<double, double, double>())
                    .def_prop_ro("mu", [](const P& p) { return p.mu(); });
  if constexpr (requires(const P& p) { p.alpha(); }) family.def_prop_ro("alpha", &P::alpha);
  if constexpr (requires(const P& p) { p.kappa(); }) family.def_prop_ro("kappa", &P::kappa);
  if constexpr (requires(const P& p) { p.gamma(); }) family.def_prop_ro("gamma", &P::gamma);
  if constexpr (requires(const P& p) { p.sigma2(); }) family.def_prop_ro("sigma2", &P::sigma2);
  if constexpr (requires(const P& p) { p.b(); }) family.def_prop_ro("b", &P::b);
  if constexpr (requires(const P& p) { p.threshold(); }) family.def("threshold", &P::threshold);
  if constexpr (requires { &P::from_variance; }) family.def_static("from_variance", &P::from_variance);
  if constexpr (requires { &P::from_mean_deviation; })
    family.def_static("from_mean_deviation", &P::from_mean_deviation);
  if constexpr (requires { &P::from_half_width; }) family.def_static("from_half_width", &P::from_half_width);
}

}  // namespace

void bind_line_families(nb::module_& m) {
#define FENCHEL_BIND(P, name, omega) bind_family<P>(m, #P);
  FENCHEL_LINE_FAMILIES(FENCHEL_BIND)
#undef FENCHEL_BIND
}

}  // namespace fenchel::python
