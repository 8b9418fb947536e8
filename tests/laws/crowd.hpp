#pragma once

#include <algorithm>

#include "laws/bounds.hpp"
#include "laws/rows.hpp"
#include "support/certified.hpp"
#include "support/hard_rows.hpp"

namespace fenchel::testing {

/// A row of support/hard_rows.hpp: crowded_row.
struct Crowd {
  double alpha;
  std::size_t n;
  double gap, spread, shape, share = 1;
};

template <class Real>
void expect_exact_crowd(const Crowd& c) {
  SCOPED_TRACE(::testing::Message() << "alpha = " << c.alpha << ", n = " << c.n << ", gap " << c.gap
                                    << ", spread " << c.spread);
  const auto z = crowded_row<Real>(c.alpha - 1, c.n, c.gap, c.spread, c.shape, c.share);
  const auto found = predict_row(c.alpha, z);
  const auto exact = certified_entmax(c.alpha, z, found.p);
  ASSERT_TRUE(exact.proved);
  double worst = 0;
  for (std::size_t i = 0; i < c.n; ++i) {
    const double bound =
        probability_bound<Real>(c.alpha, exact.p[i], -1, exact.edge) + crowd_bound<Real>(c.n);
    worst = std::max(worst, static_cast<double>(std::fabs(found.p[i] - exact.p[i])) / bound);
  }
  EXPECT_LE(worst, 1) << "times the bound; the support has " << found.support_size << " scores, exactly "
                      << std::count_if(exact.p.begin(), exact.p.end(), [](Extended p) { return p > 0; });
}

}  // namespace fenchel::testing
