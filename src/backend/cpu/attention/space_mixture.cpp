#include <cmath>
#include <limits>

#include "backend/attention/space_student.hpp"
#include "backend/cpu/attention/space.hpp"

/// The mixture of alpha < 1 and its limit alpha = 1, one Gaussian.
namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;

/// One of the eight functions of a group.
class Function {
 public:
  Function(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted, index_t lane) noexcept
      : p_(p), group_(group), wanted_(wanted), lane_(lane) {}

  /// log of the integrand in t = log zeta.
  [[nodiscard]] double exponent(double t) const noexcept {
    const double zeta = std::exp(t);
    double sum = t + p_.n * order_exponent(t);
    for (index_t a = 0; a < group_.dimension; ++a) sum += space_log_term(v(a), e2(a), zeta);
    return sum;
  }
  [[nodiscard]] double log_gaussian() const noexcept {
    double sum = 0;
    for (index_t a = 0; a < group_.dimension; ++a) sum += space_log_term(v(a), e2(a), 1);
    return sum;
  }
  [[nodiscard]] double distance2() const noexcept {
    double sum = 0;
    for (index_t a = 0; a < group_.dimension; ++a) sum += e2(a);
    return sum;
  }
  [[nodiscard]] index_t most_nodes() const noexcept {
    return group_.nodes != nullptr ? SpaceNodes::kMost : std::numeric_limits<index_t>::max();
  }

  void clear() const noexcept {
    if (group_.nodes != nullptr) group_.nodes->size[lane_] = 0;
    for (index_t row = 0; row < space_sums(group_.dimension, wanted_); ++row) at(row) = 0;
  }
  void scale(double factor) const noexcept {
    for (index_t i = 0; group_.nodes != nullptr && i < group_.nodes->size[lane_]; ++i) {
      group_.nodes->at(lane_, i).weight.re *= factor;
    }
    for (index_t row = 0; row < space_sums(group_.dimension, wanted_); ++row) at(row) *= factor;
  }

  /// Adds the node zeta = e^t; at t = 0 with n infinite that is all there is.
  void add(double t, double weight) const noexcept {
    const index_t d = group_.dimension;
    const double zeta = std::exp(t);
    at(0) += weight;
    if (group_.nodes != nullptr)
      group_.nodes->at(lane_, group_.nodes->size[lane_]++) = {{zeta, 0}, {weight, 0}};
    if (wanted_ == Wanted::kValues) return;
    index_t cross = 1 + 2 * d;
    double g = 0, g1 = 0;
    for (index_t a = 0; a < d; ++a) {
      const double c = 1 / (1 + zeta * v(a));
      at(1 + a) += weight * c;
      at(1 + d + a) += weight * zeta * c;
      for (index_t b = 0; b <= a; ++b) at(cross++) += weight * zeta * c / (1 + zeta * v(b));
      const SpaceLogSlopes<double> slopes = space_log_slopes(v(a), e2(a), c);
      g += slopes.g;
      g1 += slopes.g1;
    }
    if (wanted_ == Wanted::kAlphaToo) at(cross) += weight * student_alpha_rate(p_, t, g, g1);
  }

  [[nodiscard]] double sum() const noexcept { return at(0); }

 private:
  [[nodiscard]] double& at(index_t row) const noexcept { return group_.sums[row * kG + lane_]; }
  [[nodiscard]] double v(index_t a) const noexcept { return group_.v[a * kG + lane_]; }
  [[nodiscard]] double e2(index_t a) const noexcept { return group_.e2[a * kG + lane_]; }

  const SpaceDensity& p_;
  const SpaceGroup& group_;
  Wanted wanted_;
  index_t lane_;
};

}  // namespace

void integrate_gaussian(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted) noexcept {
  for (index_t lane = 0; lane < kG; ++lane) {
    const Function psi(p, group, wanted, lane);
    psi.clear();
    psi.add(0, std::exp(p.log_factor + psi.log_gaussian()));
  }
}

bool integrate_mixture(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted) noexcept {
  for (index_t lane = 0; lane < kG; ++lane) {
    const Function psi(p, group, wanted, lane);
    if (!integrate_student(p, psi)) return false;
  }
  return true;
}

}  // namespace fenchel::detail
