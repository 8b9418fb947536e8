#include "estimate/fit/location_fit.hpp"

#include <cmath>
#include <limits>

#include "estimate/fit/checks.hpp"

namespace fenchel::detail {
namespace {

constexpr auto kSpread = "must be positive and finite (rows that are all equal are a Dirac)";

}  // namespace

void check_moments(std::string_view where, const LineMoments& moments) {
  check_total_weight(where, moments.weight());
  const double variance = moments.variance();
  if (!(variance > 0)) throw_domain_error(where, "the variance", kSpread, variance);
  if (!std::isnormal(variance)) throw_domain_error(where, "the variance", kNormalRange, variance);
}

void check_deviation(std::string_view where, const AbsoluteMoments& moments) {
  constexpr double kSlack = 1e-12;  // weights may be rounded
  check_total_weight(where, moments.weight());
  const double most = (0.5 + kSlack) * moments.weight();
  if (moments.powers().empty() || moments.powers()[0] != 1)
    throw_invalid_argument(where, "the powers of the moments", "must begin with 1", "others");
  if (moments.weight_below() > most || moments.weight_above() > most)
    throw_domain_error(where, "the centre of the moments", "must be a median of the rows", moments.centre());
  const double deviation = moments.moment(0);
  if (!(deviation > 0 && deviation <= std::numeric_limits<double>::max()))
    throw_domain_error(where, "the mean deviation", kSpread, deviation);
}

AbsoluteMoments deviation_of(const Data& data) {
  return collect(data, AbsoluteMoments(weighted_median(data)));
}

}  // namespace fenchel::detail
