#include <nanobind/eigen/dense.h>
#include <nanobind/stl/tuple.h>

#include <Eigen/Core>
#include <tuple>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/attention/finite_attention.hpp"
#include "fenchel/regularizer/tsallis.hpp"

namespace fenchel::python {

/// Attention over a finite set of keys.
void bind_finite_attention(nb::module_& m) {
  using Eigen::MatrixXd;
  m.def("key_value_attention", [](const Tsallis& omega, const MatrixXd& queries, const MatrixXd& keys,
                                  const MatrixXd& values, const MatrixXd& mask) {
    KeyValueAttention seen =
        without_gil([&] { return key_value_attention(omega, queries, keys, values, mask); });
    return std::tuple(std::move(seen.contexts), MatrixXd(seen.probabilities));
  });
  m.def("key_value_attention_vjp",
        [](const Tsallis& omega, const MatrixXd& queries, const MatrixXd& keys, const MatrixXd& values,
           const MatrixXd& mask, const MatrixXd& cotangent) {
          KeyValueGradient gradient = without_gil([&] {
            const KeyValueAttention seen = key_value_attention(omega, queries, keys, values, mask);
            return key_value_attention_vjp(omega, queries, keys, values, seen, cotangent);
          });
          return std::tuple(std::move(gradient.queries), std::move(gradient.keys), std::move(gradient.values),
                            gradient.alpha);
        });
}

}  // namespace fenchel::python
