#pragma once

/// `Shannon`: the negative Shannon entropy, whose prediction is softmax.

#include "fenchel/core/config.hpp"

namespace fenchel {

/// temperature * sum p log p: the negative Shannon entropy, whose prediction map is softmax.
class FENCHEL_EXPORT Shannon {
 public:
  /// Throws std::domain_error unless the temperature is positive and finite.
  explicit Shannon(double temperature = 1);

  [[nodiscard]] double temperature() const noexcept { return temperature_; }

 private:
  double temperature_;
};

}  // namespace fenchel
