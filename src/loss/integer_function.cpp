#include "fenchel/loss/integer_function.hpp"

#include "loss/integer_sums.hpp"

namespace fenchel::detail {
namespace {

Loss<AlphaGradient> loss(LossKind kind, const Tsallis& omega, const IntegerFunctionPrediction& p,
                         const IntegerTarget& q) {
  const auto sums = integer_loss_sums(kind, p.prediction, q, static_cast<double>(p.prediction.mode));
  return {omega.temperature() * sums.value, {omega.temperature() * sums.alpha}};
}

}  // namespace

Loss<AlphaGradient> fenchel_young(const Tsallis& omega, const IntegerFunctionPrediction& p,
                                  const IntegerTarget& q) {
  return loss(LossKind::fenchel_young, omega, p, q);
}

Loss<AlphaGradient> cross_omega(const Tsallis& omega, const IntegerFunctionPrediction& p,
                                const IntegerTarget& q) {
  return loss(LossKind::cross_omega, omega, p, q);
}

}  // namespace fenchel::detail
