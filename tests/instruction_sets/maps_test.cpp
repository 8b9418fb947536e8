#include "instruction_sets/batch.hpp"
#include "laws/bounds.hpp"

/// entmax over rows of every length, on one instruction set.
namespace fenchel::testing {
namespace {

template <class Real>
class MapLengths : public ::testing::Test {};
TYPED_TEST_SUITE(MapLengths, Reals);

struct Byproducts {
  std::array<double, kBatch> normalizer, threshold;
  std::array<index_t, kBatch> support_size;
};

template <class Real>
bool is_nan(std::span<const Real> row) {
  return std::ranges::all_of(row, [](Real x) { return std::isnan(x); });
}

/// The largest error of a row's probabilities, in bounds.
template <class Real>
double worst_error(double alpha, Kind kind, std::span<const Real> z, std::span<const Real> p,
                   const Scalar& exact) {
  double worst = 0;
  for (std::size_t j = 0; j < z.size(); ++j) {
    const double truth = exact.p[j], error = std::fabs(p[j] - truth);
    const double solver = solver_error(truth);
    double bound = Bounds<Real>::kRelative * truth + solver;
    if (std::isfinite(alpha)) {
      bound += kind == kCrowded ? crowd_bound<Real>(z.size()) : 0;
      bound += error <= bound ? 0
                              : probability_bound<Real>(alpha, truth, Extended{z[j]} - exact.top,
                                                        exact.normalization.threshold);
    }
    worst = std::isnan(error) ? kInf : std::max(worst, error / bound);
  }
  return worst;
}

template <class Real>
void expect_row(double alpha, Kind kind, std::span<const Real> z, std::span<const Real> p,
                const Byproducts& found, std::size_t row) {
  const double normalizer = found.normalizer[row], threshold = found.threshold[row];
  if (kind == kBad) {
    EXPECT_TRUE(is_nan(p));
    EXPECT_TRUE(std::isnan(normalizer) && std::isnan(threshold));
    EXPECT_EQ(found.support_size[row], 0);
    return;
  }
  const Scalar exact = solve(alpha, z);
  EXPECT_LE(worst_error(alpha, kind, z, p, exact), 1) << "times the bound on a probability";
  Extended sum = 0;
  for (const Real x : p) sum += x;
  EXPECT_LE(std::fabs(static_cast<double>(sum - 1)), cpu::row_sum_error<Real>(std::ssize(z)));
  EXPECT_EQ(found.support_size[row], std::ranges::count_if(p, [](Real x) { return x > 0; }));
  const auto near = [&](double value, double truth) {
    const double error = kEdgeUlps * Bounds<Real>::kUnit * (std::fabs(truth) + std::fabs(exact.top) + 1);
    return value == truth || std::fabs(value - truth) <= error;
  };
  const Normalization& normalization = exact.normalization;
  EXPECT_PRED2(near, normalizer, exact.top + normalization.offset);
  EXPECT_PRED2(near, threshold, exact.top + normalization.threshold);
}

TYPED_TEST(MapLengths, RowsAreThoseOfTheScalarSolver) {
  using Real = TypeParam;
  for_each_length(3, [](double alpha, std::size_t n) {
    const Table<Real> scores = make_scores<Real>(alpha, n);
    Table<Real> p(n);
    Byproducts found;
    cpu::entmax(scores.rows(), alpha, p.rows(),
                {found.normalizer.data(), found.threshold.data(), found.support_size.data()});
    EXPECT_TRUE(p.keeps_its_room());
    for (index_t i = 0; i < kBatch; ++i) {
      SCOPED_TRACE(::testing::Message() << "row " << i);
      expect_row<Real>(alpha, kind_of(i), scores[i], std::as_const(p)[i], found, static_cast<std::size_t>(i));
    }
  });
}

/// A row's bits do not depend on the rows beside it, nor on where it is written.
TYPED_TEST(MapLengths, ARowAloneIsTheSameBits) {
  using Real = TypeParam;
  for_each_length(1, [](double alpha, std::size_t n) {
    Table<Real> p = make_scores<Real>(alpha, n);
    const Table<Real> scores = p;
    cpu::entmax<Real>(p.rows(), alpha, p.rows());
    EXPECT_TRUE(p.keeps_its_room());
    for (index_t i = static_cast<index_t>(n) % 3; i < kBatch; i += 3) {
      const std::vector<Real> alone = entmax_row<Real>(alpha, {scores[i].begin(), scores[i].end()});
      EXPECT_EQ(std::memcmp(alone.data(), p[i].data(), n * sizeof(Real)), 0) << "row " << i;
    }
  });
}

}  // namespace
}  // namespace fenchel::testing
