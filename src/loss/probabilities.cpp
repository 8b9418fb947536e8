#include "fenchel/loss/probabilities.hpp"

#include <cmath>
#include <iterator>
#include <string>

#include "core/compensated_sum.hpp"
#include "core/fenchel_young_term.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "probability_loss";

/// The sum of a row; throws unless it is a distribution.
double checked_sum(Rows<const double> p, index_t i) {
  detail::CompensatedSum sum;
  for (const double x : p[i]) {
    if (!(x >= 0))
      throw_domain_error(kWhere, "the probabilities of row " + shortest(i), "must not be negative", x);
    sum.add(x);
  }
  if (!(std::abs(sum.total() - 1) <= kTargetSumTolerance))
    throw_domain_error(kWhere, "the sum of row " + shortest(i), "must be 1", sum.total());
  return sum.total();
}

double loss_of_row(std::span<const double> p, double total, index_t label, double am1) {
  const auto term = [&](index_t k) {
    const double probability = p[static_cast<std::size_t>(k)] / total;
    return detail::fenchel_young_term(am1, k == label ? 1 : 0, probability, deformed_log(am1, probability));
  };
  detail::CompensatedSum loss;
  const double of_label = term(label);
  if (std::isinf(of_label)) return of_label;
  loss.add(of_label);
  for (index_t k = 0; k < std::ssize(p); ++k) {
    if (k != label) loss.add(term(k));
  }
  return loss.total();
}

}  // namespace

void probability_loss(Rows<const double> probabilities, const ClassTargets& target, double alpha,
                      std::span<double> losses) {
  detail::checked_positive(kWhere, "alpha", alpha);
  if (std::ssize(target.classes) != probabilities.rows || std::ssize(losses) != probabilities.rows)
    throw_invalid_argument(kWhere, "classes and losses", "must be one for each row",
                           shortest(std::ssize(target.classes)) + " and " + shortest(std::ssize(losses)));
  for (index_t i = 0; i < probabilities.rows; ++i) {
    checkpoint_at(i);
    const auto at = static_cast<std::size_t>(i);
    const index_t label = target.classes[at];
    losses[at] = 0;
    if (label == target.ignored) continue;
    if (!(label >= 0 && label < probabilities.cols))
      throw_domain_error(kWhere, "the class of row " + shortest(i),
                         "must be in [0, " + shortest(probabilities.cols) + ")", static_cast<double>(label));
    losses[at] = loss_of_row(probabilities[i], checked_sum(probabilities, i), label, alpha - 1);
  }
}

}  // namespace fenchel
