#include "laws/crowd.hpp"

/// A large crowd of scores within rounding of the threshold: the worst that hill climbing over its size,
/// place, width and shape has found for a solver that stops at a small step and clips what leaves the
/// support.
namespace fenchel::testing {
namespace {

TEST(ThresholdCrowd, IsExactInDouble) {
  for (const Crowd& c :
       {Crowd{1.5, 19952, 4.05e-6, 2.01e-4, 0.01}, Crowd{1.8, 11091, 3.0e-11, 7.6e-12, 1.467},
        Crowd{1.9, 19952, 1.2e-13, 1.95e-12, 1.415}, Crowd{1.99, 19952, 4.7e-14, 4.8e-12, 4.425},
        Crowd{1.99, 81, 5.0e-15, 6.6e-13, 1.315}, Crowd{1.999, 19952, 6.2e-14, 2.3e-12, 1.482},
        Crowd{2.0, 19952, 8.7e-13, 2.8e-16, 0.01}}) {
    expect_exact_crowd<double>(c);
  }
}

TEST(ThresholdCrowd, IsExactInFloat) {
  for (const Crowd& c :
       {Crowd{1.3, 1104, 2.76e-2, 4.5e-9, 3.64}, Crowd{1.5, 15689, 1.2e-3, 2.1e-6, 3.587},
        Crowd{1.8, 19952, 2.4e-5, 2.05e-6, 2.575}, Crowd{1.9, 19952, 3.6e-8, 1.6e-6, 0.801},
        Crowd{1.99, 19952, 4.7e-8, 3.3e-6, 4.416}, Crowd{1.999, 19952, 5.0e-5, 2.5e-6, 1.902},
        Crowd{2.0, 19952, 5.3e-6, 1.3e-5, 0.0531}, Crowd{2.0, 19952, 5.0e-8, 1.36e-6, 3.957},
        Crowd{2.0, 566, 1.4e-6, 7.2e-5, 0.01}, Crowd{1.999, 19952, 1.4e-4, 2.6e-4, 1.214, 0.24},
        Crowd{2.0, 19952, 5.0e-8, 1.36e-6, 3.957, 0.24}}) {
    expect_exact_crowd<float>(c);
  }
}

}  // namespace
}  // namespace fenchel::testing
