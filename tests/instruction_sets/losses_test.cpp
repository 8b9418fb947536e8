#include "core/compensated_sum.hpp"
#include "instruction_sets/batch.hpp"
#include "laws/bounds.hpp"

/// Fenchel-Young losses over rows of every length, on one instruction set.
namespace fenchel::testing {
namespace {

template <class Real>
class LossLengths : public ::testing::Test {};
TYPED_TEST_SUITE(LossLengths, Reals);

/// Omega_alpha(p) in double.
double negentropy_of(double alpha, const std::vector<double>& p) {
  const double am1 = alpha - 1;
  fenchel::detail::CompensatedSum sum;
  for (const double x : p) {
    if (x > 0) sum.add(x * (am1 == 0 ? std::log(x) : std::expm1(am1 * std::log(x)) / am1) / alpha);
  }
  return std::isinf(alpha) ? 0 : sum.total();
}

/// Omega*(z) + Omega(q) - <q, z> from the scalar solver's prediction, in double.
template <class Real>
void expect_loss(double alpha, std::span<const Real> z, const std::vector<double>& q, Real loss) {
  const Scalar exact = solve(alpha, z);
  fenchel::detail::CompensatedSum differences;
  double largest = 0;
  for (std::size_t j = 0; j < z.size(); ++j) {
    if (z[j] > -kInf) {
      differences.add((exact.p[j] - q[j]) * (z[j] - exact.top));
      largest = std::max(largest, std::fabs(double{z[j]}));
    } else if (q[j] > 0) {
      EXPECT_EQ(loss, kInf);
      return;
    }
  }
  const double omega_p = negentropy_of(alpha, exact.p), omega_q = negentropy_of(alpha, q);
  const double size = std::fabs(omega_p) + std::fabs(omega_q) + largest + 1 / alpha;
  EXPECT_NEAR(loss, differences.total() - omega_p + omega_q, loss_bound<Real>(z.size(), size));
}

/// The losses and gradients of a batch; q has the targets as rows.
template <class Real, class Targets>
void expect_losses(double alpha, const Table<Real>& scores, const Targets& targets, const Table<Real>& q) {
  Table<Real> p = scores, residual = scores;
  std::vector<Real> loss(scores.size());
  cpu::entmax<Real>(scores.rows(), alpha, p.rows());
  cpu::entmax_loss(scores.rows(), alpha, targets, cpu::LossOutputs<Real>{loss, residual.rows()});
  EXPECT_TRUE(residual.keeps_its_room());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "row " << i);
    if (Place{i, q[i].size()}.kind() == kBad) {
      EXPECT_TRUE(std::isnan(loss[i]));
      continue;
    }
    expect_loss(alpha, scores[i], {q[i].begin(), q[i].end()}, loss[i]);
    index_t wrong = 0;
    for (std::size_t j = 0; j < q[i].size(); ++j) wrong += residual[i][j] != p[i][j] - q[i][j];
    EXPECT_EQ(wrong, 0) << "entries of the gradient are not p - q";
  }
}

TYPED_TEST(LossLengths, ClassLossesAreTheirDefinition) {
  using Real = TypeParam;
  for_each_length(1, [](double alpha, std::size_t cols) {
    Table<Real> q(cols);
    std::vector<index_t> classes;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const std::size_t label = (7 * i + cols / 2) % cols;
      std::ranges::fill(q[i], Real(0));
      q[i][label] = 1;
      classes.push_back(static_cast<index_t>(label));
    }
    expect_losses(alpha, make_scores<Real>(alpha, cols), cpu::ClassTargets{classes}, q);
  });
}

TYPED_TEST(LossLengths, SoftLossesAreTheirDefinition) {
  using Real = TypeParam;
  for_each_length(1, [](double alpha, std::size_t cols) {
    const auto scores = make_scores<Real>(alpha, cols);
    Table<Real> q(cols);
    for (std::size_t i = 0; i < q.size(); ++i) {
      const Place place{i, cols};
      // Of two masked rows one has a target that the mask allows.
      const auto target = place.kind() == kMasked && place.turn() % 2 == 0
                              ? entmax_row<Real>(2, {scores[i].begin(), scores[i].end()})
                              : make_target<Real>(cols, i % 2 == 0 ? 1.3 : 2.0, static_cast<unsigned>(i));
      std::ranges::copy(target, q[i].begin());
    }
    expect_losses(alpha, scores, cpu::SoftTargets<Real>{std::as_const(q).rows()}, q);
  });
}

}  // namespace
}  // namespace fenchel::testing
