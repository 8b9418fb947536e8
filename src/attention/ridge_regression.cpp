#include "fenchel/attention/ridge_regression.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attention/check_shape.hpp"
#include "backend/cpu/checks.hpp"
#include "core/scratch.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::detail {
namespace {

constexpr auto kWhere = "ridge_regression";

enum class Side { kPlain, kTransposed };

/// Rows of `in` times G, or its transpose, of their group of rows; what is left of a row of `out` becomes 0.
template <class Real>
void multiply_rows(const std::vector<const RidgeSystem*>& groups, Side side, Rows<const Real> in,
                   Rows<Real> out) {
  const index_t each = in.rows / std::max<index_t>(std::ssize(groups), 1);
  const int workers = workers_for(in.rows, in.cols * out.cols / 4);
  const Scratch memory(workers, scratch_bytes<double>(in.cols) + scratch_bytes<double>(out.cols));
  parallel_rows(in.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    auto* const x = part.take<double>(in.cols);
    auto* const y = part.take<double>(out.cols);
    for (index_t i = begin; i < end; ++i) {
      const Eigen::MatrixXd& g = groups[static_cast<std::size_t>(i / each)]->matrix();
      const bool plain = side == Side::kPlain;
      const index_t inner = plain ? g.rows() : g.cols(), outer = plain ? g.cols() : g.rows();
      std::copy_n(in.row(i), inner, x);
      const Eigen::Map<const Eigen::VectorXd> from(x, inner);
      Eigen::Map<Eigen::VectorXd> to(y, outer);
      if (plain) {
        to.noalias() = g.transpose() * from;
      } else {
        to.noalias() = g * from;
      }
      Real* const row = out.row(i);
      for (index_t j = 0; j < outer; ++j) row[j] = static_cast<Real>(y[j]);
      std::fill(row + outer, row + out.cols, Real{0});
    }
  });
}

/// The system of each length; `padded` has the columns that a length counts, `whole` has N.
template <class T, class U>
std::vector<const RidgeSystem*> checked_groups(std::string_view where, RidgeSystems systems,
                                               std::span<const index_t> lengths, std::string_view padded_name,
                                               Rows<T> padded, std::string_view whole_name, Rows<U> whole) {
  check_view(where, padded_name, padded);
  check_view(where, whole_name, whole);
  if (whole.rows != padded.rows) {
    throw_invalid_argument(
        where, std::string(whole_name) + ".rows",
        std::string("must equal ").append(padded_name).append(".rows = ").append(shortest(padded.rows)),
        whole.rows);
  }
  const index_t count = std::ssize(lengths);
  if (count == 0 ? padded.rows > 0 : padded.rows % count != 0) {
    throw_invalid_argument(
        where, "lengths.size()",
        std::string("must divide ").append(padded_name).append(".rows = ").append(shortest(padded.rows)),
        count);
  }
  check_lengths(where, lengths, padded.cols);
  std::vector<const RidgeSystem*> groups;
  for (const index_t length : lengths) {
    groups.push_back(&systems(length));
    const index_t functions = groups.back()->matrix().cols();
    if (whole.rows > 0 && whole.cols != functions) {
      throw_invalid_argument(where, std::string(whole_name) + ".cols",
                             "must equal the size of the basis, " + std::to_string(functions), whole.cols);
    }
  }
  return groups;
}

}  // namespace

RidgeSystem::RidgeSystem(const Eigen::MatrixXd& design, double ridge) {
  checked_nonnegative(kWhere, "ridge", ridge);
  const index_t functions = design.rows(), length = design.cols();
  if (length < 1) throw_invalid_argument(kWhere, "positions", "must not be empty", index_t{0});
  for (index_t l = 0; l < length; ++l) {
    for (const double value : design.col(l))
      checked_finite(kWhere, "psi at " + indexed("positions", l), value);
  }
  const bool small = length < functions;
  Eigen::MatrixXd system =
      small ? Eigen::MatrixXd(design.transpose() * design) : Eigen::MatrixXd(design * design.transpose());
  system.diagonal().array() += ridge;
  system_.compute(system);
  // Below n epsilon the factor is one of rounding errors.
  const double least = static_cast<double>(system.rows()) * std::numeric_limits<double>::epsilon();
  if (system_.info() != Eigen::Success || !(system_.rcond() > least)) {
    throw_domain_error(kWhere, "ridge", "must be larger, since F and ridge make a singular system", ridge);
  }
  matrix_ = small ? Eigen::MatrixXd(system_.solve(design.transpose()))
                  : Eigen::MatrixXd(system_.solve(design).transpose());
}

Eigen::MatrixXd RidgeSystem::fit(const Eigen::MatrixXd& observations) const {
  check_shape(kWhere, "observations", observations, observations.rows(), matrix_.rows());
  return observations * matrix_;
}

/// dG / d ridge = -(F^T F + ridge)^-1 G = -G (F F^T + ridge)^-1.
RidgeGradient RidgeSystem::vjp(const Eigen::MatrixXd& observations, const Eigen::MatrixXd& cotangent) const {
  check_shape(kWhere, "observations", observations, observations.rows(), matrix_.rows());
  check_shape(kWhere, "cotangent", cotangent, observations.rows(), matrix_.cols());
  const bool small = matrix_.rows() < matrix_.cols();
  const Eigen::MatrixXd gradient = cotangent * matrix_.transpose();
  const double ridge =
      small ? gradient.cwiseProduct(system_.solve(observations.transpose()).transpose()).sum()
            : (observations * matrix_).cwiseProduct(system_.solve(cotangent.transpose()).transpose()).sum();
  return {gradient, -ridge};
}

template <class Real>
void fit_rows(RidgeSystems systems, Rows<const Real> observations, std::span<const index_t> lengths,
              Rows<Real> coefficients) {
  const auto groups = checked_groups("fit_rows", systems, lengths, "observations", observations,
                                     "coefficients", coefficients);
  multiply_rows(groups, Side::kPlain, observations, coefficients);
}

template <class Real>
void fit_rows_vjp(RidgeSystems systems, Rows<const Real> cotangent, std::span<const index_t> lengths,
                  Rows<Real> gradient) {
  const auto groups =
      checked_groups("fit_rows_vjp", systems, lengths, "gradient", gradient, "cotangent", cotangent);
  multiply_rows(groups, Side::kTransposed, cotangent, gradient);
}

template <class Real>
double fit_rows_ridge_vjp(RidgeSystems systems, Rows<const Real> observations,
                          std::span<const index_t> lengths, Rows<const Real> cotangent) {
  const auto groups = checked_groups("fit_rows_ridge_vjp", systems, lengths, "observations", observations,
                                     "cotangent", cotangent);
  const index_t size = lengths.empty() ? 0 : observations.rows / std::ssize(lengths);
  double sum = 0;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    Eigen::MatrixXd observed(size, lengths[k]), weights(size, cotangent.cols);
    for (index_t i = 0; i < size; ++i) {
      const index_t row = static_cast<index_t>(k) * size + i;
      for (index_t l = 0; l < observed.cols(); ++l) observed(i, l) = observations.row(row)[l];
      for (index_t j = 0; j < weights.cols(); ++j) weights(i, j) = cotangent.row(row)[j];
    }
    sum += groups[k]->vjp(observed, weights).ridge;
  }
  return sum;
}

template void fit_rows(RidgeSystems, Rows<const float>, std::span<const index_t>, Rows<float>);
template void fit_rows(RidgeSystems, Rows<const double>, std::span<const index_t>, Rows<double>);
template void fit_rows_vjp(RidgeSystems, Rows<const float>, std::span<const index_t>, Rows<float>);
template void fit_rows_vjp(RidgeSystems, Rows<const double>, std::span<const index_t>, Rows<double>);
template double fit_rows_ridge_vjp(RidgeSystems, Rows<const float>, std::span<const index_t>,
                                   Rows<const float>);
template double fit_rows_ridge_vjp(RidgeSystems, Rows<const double>, std::span<const index_t>,
                                   Rows<const double>);

}  // namespace fenchel::detail
