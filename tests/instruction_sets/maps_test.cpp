#include "instruction_sets/batch.hpp"
#include "laws/bounds.hpp"

/// entmax over rows of every length, on one instruction set.
namespace fenchel::testing {
namespace {

template <class Real>
class MapLengths : public ::testing::Test {};
TYPED_TEST_SUITE(MapLengths, Reals);

struct Byproducts {
  std::vector<double> normalizer, threshold;
  std::vector<index_t> support_size;

  explicit Byproducts(std::size_t rows) : normalizer(rows), threshold(rows), support_size(rows) {}
  cpu::EntmaxByproducts views() { return {normalizer.data(), threshold.data(), support_size.data()}; }
};

/// What the scalar solver may itself be wrong by: Normalizer.MatchesTheTable.
double solver_error(double p) { return 2e-14 * p + 4e-16; }

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
void expect_row(double alpha, Place place, std::span<const Real> z, std::span<const Real> p,
                const Byproducts& found) {
  const double normalizer = found.normalizer[place.row], threshold = found.threshold[place.row];
  if (place.kind() == kBad) {
    EXPECT_TRUE(is_nan(p));
    EXPECT_TRUE(std::isnan(normalizer) && std::isnan(threshold));
    EXPECT_EQ(found.support_size[place.row], 0);
    return;
  }
  const Scalar exact = solve(alpha, z);
  EXPECT_LE(worst_error(alpha, place.kind(), z, p, exact), 1) << "times the bound on a probability";
  Extended sum = 0;
  for (const Real x : p) sum += x;
  EXPECT_LE(std::fabs(static_cast<double>(sum - 1)), cpu::row_sum_error<Real>(std::ssize(z)));
  EXPECT_EQ(found.support_size[place.row], std::ranges::count_if(p, [](Real x) { return x > 0; }));
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
  for_each_length(3, [](double alpha, std::size_t cols) {
    const auto scores = make_scores<Real>(alpha, cols);
    Table<Real> p(cols);
    Byproducts found(p.size());
    cpu::entmax(scores.rows(), alpha, p.rows(), found.views());
    EXPECT_TRUE(p.keeps_its_room());
    for (std::size_t i = 0; i < p.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "row " << i);
      expect_row<Real>(alpha, {i, cols}, scores[i], p[i], found);
    }
  });
}

/// A row's bits do not depend on the rows beside it, nor on where it is written.
TYPED_TEST(MapLengths, ARowAloneIsTheSameBits) {
  using Real = TypeParam;
  for_each_length(1, [](double alpha, std::size_t cols) {
    auto p = make_scores<Real>(alpha, cols);
    const auto scores = p;
    cpu::entmax<Real>(p.rows(), alpha, p.rows());
    EXPECT_TRUE(p.keeps_its_room());
    for (std::size_t i = cols % 3; i < p.size(); i += 3) {
      const auto alone = entmax_row<Real>(alpha, {scores[i].begin(), scores[i].end()});
      EXPECT_EQ(std::memcmp(alone.data(), p[i].data(), cols * sizeof(Real)), 0) << "row " << i;
    }
  });
}

}  // namespace
}  // namespace fenchel::testing
