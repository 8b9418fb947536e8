#include "bindings/bindings.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/regularizer/sobolev.hpp"
#include "fenchel/regularizer/total_variation.hpp"
#include "fenchel/regularizer/tsallis.hpp"

namespace fenchel::python {

/// Regularizers and domains of predictions; the line is an infinite interval.
void bind_regularizers(nb::module_& m) {
  nb::class_<Tsallis>(m, "Tsallis")
      .def(nb::init<double, double>())
      .def_prop_ro("alpha", &Tsallis::alpha)
      .def_prop_ro("temperature", &Tsallis::temperature);
  nb::class_<TotalVariation>(m, "TotalVariation")
      .def(nb::init<double, double>())
      .def_prop_ro("gamma", &TotalVariation::gamma)
      .def_prop_ro("temperature", &TotalVariation::temperature);
  nb::class_<Sobolev>(m, "Sobolev")
      .def(nb::init<double, double>())
      .def_prop_ro("gamma", &Sobolev::gamma)
      .def_prop_ro("temperature", &Sobolev::temperature);
  nb::class_<Interval>(m, "Interval")
      .def(nb::init<double, double>())
      .def_prop_ro("lower", &Interval::lower)
      .def_prop_ro("upper", &Interval::upper);
}

}  // namespace fenchel::python
