#include "fenchel/estimate/statistics/phi_moments.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "estimate/statistics/chunks.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kWhere = "phi_moments";
constexpr double kMax = std::numeric_limits<double>::max();

index_t checked_count(const PhiMoments::Functions& phi) {
  if (phi.empty()) throw_invalid_argument(kWhere, "phi", "must not be empty", index_t{0});
  return static_cast<index_t>(phi.size());
}

}  // namespace

PhiMoments::PhiMoments(Functions phi)
    : phi_(std::make_shared<const Functions>(std::move(phi))), moments_(checked_count(*phi_)) {}

void PhiMoments::update(Rows<const double> rows, PerRow weights) {
  detail::check_entries(kWhere, rows, 1, weights);
  std::vector<double> features(static_cast<std::size_t>(rows.rows * dimension()));
  auto out = features.begin();
  for (index_t i = 0; i < rows.rows; ++i) {
    for (std::size_t k = 0; k < phi_->size(); ++k, ++out) {
      *out = weights[i] > 0 ? (*phi_)[k](rows.row(i)[0]) : 0.0;
      if (!(std::abs(*out) <= kMax))
        throw BadEntry(kWhere, "phi_" + shortest(static_cast<index_t>(k)) + " of value", "must be finite", i,
                       0, *out);
    }
  }
  moments_.update({features.data(), rows.rows, dimension()}, weights);
}

PhiMoments PhiMoments::from_bytes(std::span<const std::byte> bytes, Functions phi) {
  PhiMoments read(std::move(phi));
  read.merge_bytes(bytes);
  return read;
}

}  // namespace fenchel
