#include "fenchel/attention/gaussian_basis.hpp"

#include <string>
#include <utility>

#include "attention/gaussian_function.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {

GaussianBasis::GaussianBasis(std::vector<double> means, std::vector<double> widths)
    : means_(std::move(means)), widths_(std::move(widths)) {
  constexpr auto kWhere = "gaussian_basis";
  if (means_.empty()) throw_invalid_argument(kWhere, "means", "must not be empty", index_t{0});
  if (widths_.size() != means_.size()) {
    throw_invalid_argument(kWhere, "widths.size()",
                           "must equal means.size() = " + std::to_string(means_.size()),
                           static_cast<index_t>(widths_.size()));
  }
  for (std::size_t j = 0; j < means_.size(); ++j) {
    const auto place = static_cast<index_t>(j);
    detail::checked_finite(kWhere, indexed("means", place), means_[j]);
    detail::checked_positive(kWhere, indexed("widths", place), widths_[j]);
    variances_.push_back(
        detail::checked_positive(kWhere, indexed("widths^2", place), widths_[j] * widths_[j]));
  }
}

GaussianBasis GaussianBasis::linearly_spaced(index_t count, double lower, double upper,
                                             std::span<const double> widths) {
  constexpr auto kWhere = "gaussian_basis::linearly_spaced";
  if (widths.empty()) throw_invalid_argument(kWhere, "widths", "must not be empty", index_t{0});
  const auto kinds = static_cast<index_t>(widths.size());
  if (count < 1 || count % kinds != 0) {
    throw_invalid_argument(kWhere, "count",
                           "must be a positive multiple of the number of widths, " + std::to_string(kinds),
                           count);
  }
  detail::checked_finite(kWhere, "lower", lower);
  detail::checked_finite(kWhere, "upper", upper);
  const index_t each = count / kinds;
  std::vector<double> means, all_widths;
  for (const double width : widths) {
    for (index_t j = 0; j < each; ++j) {
      const double share = each == 1 ? 0.5 : static_cast<double>(j) / static_cast<double>(each - 1);
      means.push_back(lower + share * (upper - lower));
      all_widths.push_back(width);
    }
  }
  return {std::move(means), std::move(all_widths)};
}

cpu::GaussianFunctions GaussianBasis::functions() const noexcept {
  return {{means_.data(), size(), 1}, {variances_.data(), size(), 1}};
}

Eigen::VectorXd evaluate(const GaussianBasis& psi, double t) {
  Eigen::VectorXd value(psi.size());
  for (index_t j = 0; j < psi.size(); ++j) {
    const auto place = static_cast<std::size_t>(j);
    value[j] = detail::gaussian_function(t, psi.means()[place], psi.widths()[place]);
  }
  return value;
}

}  // namespace fenchel
