#pragma once

/// `AbsoluteMoments`: means of powers of the distance from a centre.

#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {

/// The means of |t - centre|^power for one column and some powers, and the weights on both sides of the
/// centre. They do not depend on how the data was split beyond 1e-13.
class FENCHEL_EXPORT AbsoluteMoments {
 public:
  /// Throws std::domain_error unless the centre is finite and the powers are positive and finite.
  explicit AbsoluteMoments(double centre, std::vector<double> powers = {1.0});
  [[nodiscard]] static AbsoluteMoments of(double centre, std::span<const double> values,
                                          std::span<const double> weights = {},
                                          std::vector<double> powers = {1.0});

  /// Throws BadEntry for values that are not finite and weights that are not or are negative, and
  /// std::domain_error when the weight overflows; it is then as before.
  void update(Rows<const double> rows, PerRow weights = 1.0);
  /// Throws std::invalid_argument when the centre or the powers differ.
  void merge(const AbsoluteMoments& other);
  [[nodiscard]] Bytes to_bytes() const;
  /// Throws std::invalid_argument for what to_bytes does not write.
  [[nodiscard]] static AbsoluteMoments from_bytes(std::span<const std::byte> bytes);
  void merge_bytes(std::span<const std::byte> bytes) { merge(from_bytes(bytes)); }

  [[nodiscard]] double centre() const noexcept { return centre_; }
  [[nodiscard]] std::span<const double> powers() const noexcept { return powers_; }
  [[nodiscard]] double weight() const noexcept { return weight_.value(); }
  /// The mean of |t - centre|^powers()[k]; NaN without data, infinite where its sum overflows. Throws
  /// std::invalid_argument for another k.
  [[nodiscard]] double moment(index_t k) const;
  /// Of all t < centre, and of all t > centre.
  [[nodiscard]] double weight_below() const noexcept { return below_.value(); }
  [[nodiscard]] double weight_above() const noexcept { return above_.value(); }

 private:
  double centre_;
  std::vector<double> powers_;
  DoubleDouble weight_, below_, above_;
  std::vector<DoubleDouble> sums_;  ///< of w |t - centre|^power
};

static_assert(Statistics<AbsoluteMoments>);

}  // namespace fenchel
