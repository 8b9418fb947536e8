#include "fenchel/attention/line_function.hpp"

#include "attention/gaussian_function.hpp"

namespace fenchel {

LineFunction line_function(const GaussianBasis& psi, index_t j) {
  constexpr double kReach = 9;
  const auto i = static_cast<std::size_t>(j);
  const double mean = psi.mu()[i], width = psi.sigma()[i];
  return {[=](double t) { return detail::gaussian_function(t, mean, width); },
          {mean - kReach * width, mean, mean + kReach * width}};
}

}  // namespace fenchel
