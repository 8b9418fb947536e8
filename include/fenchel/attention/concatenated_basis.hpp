#pragma once

/// `ConcatenatedBasis`: the functions of several bases, one basis after the other.

#include <Eigen/Core>
#include <concepts>
#include <tuple>
#include <utility>

#include "fenchel/attention/basis.hpp"
#include "fenchel/attention/line_function.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// The functions of several bases, one basis after the other.
template <LineBasis First, LineBasis... Rest>
class ConcatenatedBasis {
 public:
  explicit ConcatenatedBasis(First first, Rest... rest) : parts_(std::move(first), std::move(rest)...) {}

  [[nodiscard]] index_t size() const noexcept {
    return std::apply([](const auto&... part) { return (part.size() + ...); }, parts_);
  }
  [[nodiscard]] const std::tuple<First, Rest...>& parts() const noexcept { return parts_; }

 private:
  std::tuple<First, Rest...> parts_;
};

namespace detail {

/// rows_of(part), a vector or a matrix with a row for each of the part's functions, for all parts on top of
/// each other.
template <class... Parts, class RowsOf>
[[nodiscard]] auto stacked(const ConcatenatedBasis<Parts...>& psi, RowsOf rows_of) {
  auto result = rows_of(std::get<0>(psi.parts()));
  const index_t columns = result.cols();
  index_t filled = result.rows();
  result.conservativeResize(psi.size(), columns);
  const auto add = [&](const auto& part) {
    result.middleRows(filled, part.size()) = rows_of(part);
    filled += part.size();
  };
  std::apply([&](const auto&, const auto&... rest) { (add(rest), ...); }, psi.parts());
  return result;
}

}  // namespace detail

template <class... Parts>
[[nodiscard]] Eigen::VectorXd evaluate(const ConcatenatedBasis<Parts...>& psi, double t) {
  return detail::stacked(psi, [t](const auto& part) { return Eigen::VectorXd(evaluate(part, t)); });
}

template <class... Parts>
[[nodiscard]] LineFunction line_function(const ConcatenatedBasis<Parts...>& psi, index_t j) {
  LineFunction result;
  const auto look = [&](const auto& part) {
    if (j >= 0 && j < part.size()) result = line_function(part, j);
    j -= part.size();
  };
  std::apply([&](const auto&... part) { (look(part), ...); }, psi.parts());
  return result;
}

}  // namespace fenchel
