#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "bindings/arrays/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/integer_number.hpp"
#include "bindings/distributions/loss.hpp"
#include "bindings/distributions/score_functions.hpp"
#include "bindings/gil.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/loss/integer_function.hpp"
#include "fenchel/loss/integers.hpp"
#include "fenchel/predict/integer_function.hpp"
#include "fenchel/regularizer/tsallis.hpp"

namespace fenchel::python {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Doubles in [-kBound, kBound) fit an index_t.
constexpr double kBound = 0x1p63;

/// f of each element: on this thread with the GIL held where it may call Python, else by several threads.
template <class F>
[[nodiscard]] Output<double> map_numbers(bool here, const Input<>& t, const F& f) {
  return here ? map_array_here(t, f) : map_array(t, [&f](double x) noexcept { return f(x); });
}

/// f where t is an integer, `off` where it is not.
template <class F>
[[nodiscard]] Output<double> at_integers(bool here, const Input<>& t, double off, const F& f) {
  return map_numbers(here, t, [&](double x) {
    if (std::isnan(x)) return kNaN;
    return x == std::floor(x) && x >= -kBound && x < kBound ? f(static_cast<index_t>(x)) : off;
  });
}

/// f of the integer below, and its limits far out.
template <class F>
[[nodiscard]] Output<double> below_numbers(bool here, const Input<>& t, double at_minus_infinity,
                                           double at_infinity, const F& f) {
  return map_numbers(here, t, [&](double x) {
    if (std::isnan(x)) return kNaN;
    if (x < -kBound) return at_minus_infinity;
    return x < kBound ? f(static_cast<index_t>(std::floor(x))) : at_infinity;
  });
}

/// f where u is a probability, infinite at an infinite end of the support.
template <class F>
[[nodiscard]] Output<double> at_probabilities(bool here, const Input<>& u, const F& f) {
  return map_numbers(here, u, [&](double x) { return x >= 0 && x <= 1 ? to_number(f(x)) : kNaN; });
}

/// The prediction for a score that is a Python function.
struct NumericIntegers {
  Tsallis omega;
  detail::IntegerFunctionPrediction prediction;
  [[nodiscard]] const IntegerTable& table() const noexcept { return prediction.prediction.table; }
};

/// Tables may come from predictions that call Python; those of the families do not.
template <class P>
inline constexpr bool kHere = std::same_as<P, IntegerTable> || std::same_as<P, NumericIntegers>;

/// A Python function that keeps itself alive, and takes the GIL wherever it is called.
class SharedFunction {
 public:
  explicit SharedFunction(const Function& f)
      : f_(new Function(f), [](Function* held) {
          const nb::gil_scoped_acquire acquire;
          delete held;
        }) {}

  double operator()(double t) const {
    const nb::gil_scoped_acquire acquire;
    return PythonFunction("f", *f_)(t);
  }

 private:
  std::shared_ptr<Function> f_;
};

/// Of numbers: those that are no integers have probability 0.
Output<double> pmf_of(const IntegerTable& p, const Input<>& t, bool here) {
  return at_integers(here, t, 0, [&p](index_t x) { return p.pmf(x); });
}
Output<double> log_pmf_of(const IntegerTable& p, const Input<>& t, bool here) {
  return at_integers(here, t, -kInfinity, [&p](index_t x) { return p.log_pmf(x); });
}
Output<double> cdf_of(const IntegerTable& p, const Input<>& t, bool here) {
  return below_numbers(here, t, 0, 1, [&p](index_t x) { return p.cdf(x); });
}
Output<double> survival_of(const IntegerTable& p, const Input<>& t, bool here) {
  return below_numbers(here, t, 1, 0, [&p](index_t x) { return p.survival(x); });
}
Output<double> log_cdf_of(const IntegerTable& p, const Input<>& t, bool here) {
  return below_numbers(here, t, -kInfinity, 0, [&p](index_t x) { return p.log_cdf(x); });
}
Output<double> log_survival_of(const IntegerTable& p, const Input<>& t, bool here) {
  return below_numbers(here, t, 0, -kInfinity, [&p](index_t x) { return p.log_survival(x); });
}
Output<double> quantile_of(const IntegerTable& p, const Input<>& u, bool here) {
  return at_probabilities(here, u, [&p](double x) { return p.quantile(x); });
}
Output<double> survival_quantile_of(const IntegerTable& p, const Input<>& u, bool here) {
  return at_probabilities(here, u, [&p](double x) { return p.survival_quantile(x); });
}

std::pair<double, double> support_of(const IntegerTable& p) {
  return {to_number(p.support().first), to_number(p.support().last)};
}

Output<index_t> sample_of(const IntegerTable& p, index_t count, std::uint64_t seed, bool here) {
  if (here) return to_array(detail::sample_on_one_thread(p, count, seed));
  return to_array(without_gil([&] { return sample(p, count, seed); }));
}

/// What the families on the integers have in common. Constructor and parameters are the family's own.
template <TabulatedIntegers P>
[[nodiscard]] nb::class_<P> bind_integer_distribution(nb::module_& m, const char* name) {
  return nb::class_<P>(m, name)
      .def_prop_ro("table", [](const P& p) { return p.table(); })
      .def("pmf", [](const P& p, const Input<>& t) { return pmf_of(p.table(), t, kHere<P>); })
      .def("log_pmf", [](const P& p, const Input<>& t) { return log_pmf_of(p.table(), t, kHere<P>); })
      .def("cdf", [](const P& p, const Input<>& t) { return cdf_of(p.table(), t, kHere<P>); })
      .def("survival", [](const P& p, const Input<>& t) { return survival_of(p.table(), t, kHere<P>); })
      .def("log_cdf", [](const P& p, const Input<>& t) { return log_cdf_of(p.table(), t, kHere<P>); })
      .def("log_survival",
           [](const P& p, const Input<>& t) { return log_survival_of(p.table(), t, kHere<P>); })
      .def("quantile", [](const P& p, const Input<>& u) { return quantile_of(p.table(), u, kHere<P>); })
      .def("survival_quantile",
           [](const P& p, const Input<>& u) { return survival_quantile_of(p.table(), u, kHere<P>); })
      .def("support", [](const P& p) { return support_of(p.table()); })
      .def("mean", [](const P& p) { return mean(p.table()); })
      .def("median", [](const P& p) { return median(p.table()); })
      .def("mode", [](const P& p) { return mode(p.table()); })
      .def("variance", [](const P& p) { return variance(p.table()); })
      .def("skewness", [](const P& p) { return skewness(p.table()); })
      .def("kurtosis", [](const P& p) { return kurtosis(p.table()); })
      .def("moment", [](const P& p, int n) { return moment(p.table(), n); })
      .def("central_moment", [](const P& p, int n) { return central_moment(p.table(), n); })
      .def("entropy", [](const P& p) { return entropy(p.table()); })
      .def("tsallis_entropy", [](const P& p, double order) { return tsallis_entropy(p.table(), order); })
      .def("escort", [](const P& p, double order) { return escort(p.table(), order); })
      .def("expectation",
           [](const P& p, const Function& f) { return expectation(p.table(), PythonFunction("func", f)); })
      .def("sample", [](const P& p, index_t count, std::uint64_t seed) {
        return sample_of(p.table(), count, seed, kHere<P>);
      });
}

auto fenchel_young_of(const NumericIntegers& p, const IntegerTarget& q) {
  return to_python(detail::fenchel_young(p.omega, p.prediction, q));
}
auto cross_omega_of(const NumericIntegers& p, const IntegerTarget& q) {
  return to_python(detail::cross_omega(p.omega, p.prediction, q));
}
template <class P>
auto fenchel_young_of(const P& p, const IntegerTarget& q) {
  return to_python(without_gil([&] { return fenchel_young(Tsallis(p.alpha()), score(p), domain(p), q); }));
}
template <class P>
auto cross_omega_of(const P& p, const IntegerTarget& q) {
  return to_python(without_gil([&] { return cross_omega(Tsallis(p.alpha()), score(p), domain(p), q); }));
}

[[nodiscard]] IntegerTarget target(const Input<index_t>& sample) {
  return std::span(sample.data(), sample.size());
}

/// The losses of a prediction, for a distribution and for a sample.
template <class P>
void bind_integer_losses(nb::class_<P>& family) {
  family.def("fenchel_young", [](const P& p, const IntegerTable& q) { return fenchel_young_of(p, q); })
      .def("fenchel_young",
           [](const P& p, const Input<index_t>& q) { return fenchel_young_of(p, target(q)); })
      .def("cross_omega", [](const P& p, const IntegerTable& q) { return cross_omega_of(p, q); })
      .def("cross_omega", [](const P& p, const Input<index_t>& q) { return cross_omega_of(p, target(q)); });
}

/// A family: the prediction of a score that it gives back.
template <class P>
[[nodiscard]] nb::class_<P> bind_integer_prediction(nb::module_& m, const char* name) {
  auto family = bind_integer_distribution<P>(m, name);
  bind_score_functions(family, [](const P& p) { return Tsallis(p.alpha()); });
  bind_integer_losses(family);
  return family.def_prop_ro("alpha", &P::alpha)
      .def_prop_ro("mu", &P::mu)
      .def("normalizer", [](const P& p) { return normalizer(p); })
      .def("threshold", [](const P& p) { return threshold(p); });
}

}  // namespace

void bind_integers(nb::module_& m) {
  bind_integer_distribution<IntegerTable>(m, "IntegerTable")
      .def("__init__",
           [](IntegerTable* self, index_t first, const Input<>& probabilities) {
             new (self) IntegerTable(first, std::span(probabilities.data(), probabilities.size()));
           })
      .def_prop_ro("first", &IntegerTable::first)
      .def_prop_ro("has_tails", [](const IntegerTable& p) { return !p.tails().empty(); })
      .def("probabilities", [](const IntegerTable& p) { return copy_to_array(p.probabilities()); });
  nb::class_<IntegerRange>(m, "IntegerRange")
      .def(nb::init<index_t, index_t>())
      .def_ro("first", &IntegerRange::first)
      .def_ro("last", &IntegerRange::last);
  auto numeric = bind_integer_distribution<NumericIntegers>(m, "NumericIntegers");
  bind_integer_losses(numeric);
  numeric
      .def("__init__",
           [](NumericIntegers* self, const Tsallis& omega, const Function& f, const IntegerRange& domain) {
             new (self)
                 NumericIntegers{omega, detail::predict_integer_function(omega, SharedFunction(f), domain)};
           })
      .def_prop_ro("alpha", [](const NumericIntegers& p) { return p.omega.alpha(); })
      .def("normalizer", [](const NumericIntegers& p) { return p.prediction.normalizer(); })
      .def("threshold", [](const NumericIntegers& p) { return p.prediction.threshold(); });
  bind_integer_prediction<SparsePoisson>(m, "SparsePoisson")
      .def(nb::init<double, double>(), nb::arg("alpha"), nb::arg("mu"), nb::call_guard<WithoutGil>());
  bind_integer_prediction<SparseIntegerGaussian>(m, "SparseIntegerGaussian")
      .def(nb::init<double, double, double>(), nb::arg("alpha"), nb::arg("mu"), nb::arg("sigma2"),
           nb::call_guard<WithoutGil>())
      .def_prop_ro("sigma2", &SparseIntegerGaussian::sigma2);
}

}  // namespace fenchel::python
