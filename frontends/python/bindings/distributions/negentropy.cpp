#include <nanobind/eigen/dense.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bindings/arrays/rows.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/distribution/escort.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/predict/finite.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/vector_score.hpp"

/// Functions of one distribution, over the rows of a batch.
namespace fenchel::python {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool has_prediction(const std::vector<double>& scores) {
  const bool bad = std::ranges::any_of(scores, [](double z) { return !(z < kInfinity); });
  return !bad && !std::isinf(std::ranges::max(scores));
}

/// A row without prediction has no conjugate, and no normaliser.
double conjugate_of_row(const Tsallis& omega, std::vector<double> scores) {
  return has_prediction(scores) ? conjugate(omega, VectorScore(std::move(scores)), Finite()) : kNan;
}
double normalizer_of_row(const Tsallis& omega, std::vector<double> scores) {
  return has_prediction(scores) ? normalizer(omega, VectorScore(std::move(scores)), Finite()) : kNan;
}

/// A NaN makes its row NaN.
std::vector<double> escort_of_row(const std::vector<double>& p, double beta) {
  if (std::ranges::any_of(p, [](double x) { return std::isnan(x); })) return std::vector(p.size(), kNan);
  return escort(p, beta);
}

/// name(rows, alpha, values): values[i] = f(alpha of row i, row i).
template <class Real, class F>
void bind_row_function(nb::module_& m, const char* name, const F& f) {
  m.def(
      name,
      [f](const RowsArray<const Real>& x, const Parameter& alpha, const Numbers<Real>& values) {
        const WithoutGil released;
        const Rows<const Real> rows = rows_of(x);
        const PerRow alphas = per_row(alpha);
        for (index_t i = 0; i < rows.rows; ++i) {
          checkpoint();
          values.data()[i] =
              static_cast<Real>(f(alphas[i], std::vector<double>(rows[i].begin(), rows[i].end())));
        }
      },
      rows_argument("rows"), nb::arg("alpha"), rows_argument("values"));
}

template <class Real>
void bind(nb::module_& m) {
  bind_row_function<Real>(m, "negentropy", [](double alpha, const std::vector<double>& p) {
    return tsallis_negentropy(alpha, p);
  });
  bind_row_function<Real>(m, "entmax_conjugate", [](double alpha, std::vector<double> scores) {
    return conjugate_of_row(Tsallis(alpha), std::move(scores));
  });
  bind_row_function<Real>(m, "entmax_normalizer", [](double alpha, std::vector<double> scores) {
    return normalizer_of_row(Tsallis(alpha), std::move(scores));
  });
  bind_map<Real>(m, "escort", [](Rows<const Real> p, PerRow beta, Rows<Real> result) {
    for (index_t i = 0; i < p.rows; ++i) {
      checkpoint();
      std::ranges::copy(escort_of_row(std::vector<double>(p[i].begin(), p[i].end()), beta[i]), result.row(i));
    }
  });
}

}  // namespace

void bind_negentropy(nb::module_& m) {
  m.def("beta_covariance", [](const Input<>& p, double beta, const InputRows& phi, const InputRows& psi) {
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> result(phi.shape(1), psi.shape(1));
    beta_covariance({p.data(), p.size()}, beta, rows_of(phi), rows_of(psi),
                    Rows<double>(result.data(), result.rows(), result.cols()));
    return result;
  });
  bind<double>(m);
  bind<float>(m);
}

}  // namespace fenchel::python
