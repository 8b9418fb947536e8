#include "fenchel/backend/cuda/ridge.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "fenchel/attention/ridge_regression.hpp"
#include "gpu.hpp"

namespace fenchel {
namespace {

using test::DeviceArray;

/// psi_j(t_l) for bumps at N places of the unit interval, as wide as the distance of two, and L positions.
Eigen::MatrixXd design(index_t functions, index_t length) {
  Eigen::MatrixXd f(functions, length);
  for (index_t j = 0; j < functions; ++j) {
    for (index_t l = 0; l < length; ++l) {
      const double t = (static_cast<double>(l) + 0.5) / static_cast<double>(length);
      const double z = (t - (static_cast<double>(j) + 0.5) / static_cast<double>(functions)) *
                       static_cast<double>(functions);
      f(j, l) = std::exp(-z * z / 2);
    }
  }
  return f;
}

/// Designs of several lengths in the memory of the GPU, what is past a length being NaN, and their G.
class Ridge {
 public:
  Ridge(index_t functions, const std::vector<std::int64_t>& lengths, index_t columns, double lambda)
      : functions_(functions), columns_(columns), lengths_(lengths), matrices_(lengths.size() * size()) {
    std::vector<double> values;
    for (const std::int64_t length : lengths) {
      const bool good = length >= 1 && length <= columns;
      const Eigen::MatrixXd f = good ? design(functions, length) : Eigen::MatrixXd();
      for (index_t j = 0; j < functions; ++j) {
        for (index_t l = 0; l < columns; ++l) {
          values.push_back(good && l < length ? f(j, l) : std::numeric_limits<double>::quiet_NaN());
        }
      }
    }
    const DeviceArray<double> designs(values);
    const cuda::RidgeDesigns all{designs.data(), lengths_.data(), count(), functions, columns};
    const DeviceArray<double> scratch(cuda::ridge_scratch_bytes(all) / sizeof(double) + 1);
    cuda::ridge_matrices(all, lambda, matrices_.data(), scratch.data(), nullptr);
    values_ = matrices_.values();
  }

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(functions_ * columns_); }
  [[nodiscard]] index_t count() const { return static_cast<index_t>(lengths_.size()); }
  [[nodiscard]] cuda::RidgeMatrices matrices() const {
    return {matrices_.data(), lengths_.data(), count(), functions_, columns_};
  }
  /// Element (l, j) of G of length s.
  [[nodiscard]] double at(std::size_t s, index_t l, index_t j) const {
    return values_[s * size() + static_cast<std::size_t>(l * functions_ + j)];
  }

 private:
  index_t functions_, columns_;
  DeviceArray<std::int64_t> lengths_;
  DeviceArray<double> matrices_;
  std::vector<double> values_;
};

class CudaRidge : public test::GpuTest {};

TEST_F(CudaRidge, MatricesAreThoseOfTheCpu) {
  for (const index_t functions : {1, 2, 31, 64, 130, 256}) {
    for (const double lambda : {0.1, 2.0}) {
      const std::vector<std::int64_t> lengths = {1, 2, 33, 64, 100, 300, 257};
      const Ridge ridge(functions, lengths, 300, lambda);
      for (std::size_t s = 0; s < lengths.size(); ++s) {
        const detail::RidgeSystem expected(design(functions, lengths[s]), lambda);
        const double bound = 1e-12 * expected.matrix().cwiseAbs().maxCoeff();
        for (index_t l = 0; l < 300; ++l) {
          for (index_t j = 0; j < functions; ++j) {
            const double g = l < lengths[s] ? expected.matrix()(l, j) : 0.0;
            ASSERT_NEAR(ridge.at(s, l, j), g, bound)
                << functions << " functions, length " << lengths[s] << ", " << l << ", " << j;
          }
        }
      }
    }
  }
}

TEST_F(CudaRidge, SingularSystemsAndImpossibleLengthsAreNaN) {
  const Ridge ridge(40, {0, 20, 200, 201, -3}, 200, 0.0);
  for (const std::size_t s : {0u, 3u, 4u}) {
    for (index_t l = 0; l < 200; ++l) {
      for (index_t j = 0; j < 40; ++j) ASSERT_TRUE(std::isnan(ridge.at(s, l, j))) << s;
    }
  }
  const detail::RidgeSystem expected(design(40, 20), 0);  // fewer positions than functions need no lambda
  EXPECT_NEAR(ridge.at(1, 3, 7), expected.matrix()(3, 7), 1e-9);

  // The same function twice.
  std::vector<double> twice(2 * 50);
  for (std::size_t l = 0; l < 50; ++l) twice[l] = twice[50 + l] = std::sin(static_cast<double>(l));
  const DeviceArray<double> designs(twice), scratch(4), matrices(100);
  const DeviceArray<std::int64_t> lengths(std::vector<std::int64_t>{50});
  cuda::ridge_matrices({designs.data(), lengths.data(), 1, 2, 50}, 0, matrices.data(), scratch.data(),
                       nullptr);
  for (const double g : matrices.values()) EXPECT_TRUE(std::isnan(g));
}

template <class Real>
void expect_products() {
  constexpr index_t kFunctions = 70, kColumns = 150, kSequences = 6;
  const std::vector<std::int64_t> lengths = {150, 1, 90, 47};
  const Ridge ridge(kFunctions, lengths, kColumns, 0.3);
  const std::vector<std::int64_t> which = {0, 2, 1, 3, 4, 2};  // matrix 4 does not exist
  const DeviceArray<std::int64_t> device_which(which);
  std::mt19937 rng(4);
  std::normal_distribution<double> normal;
  for (const index_t each : {1, 5, 33}) {
    const index_t rows = kSequences * each;
    // Rows of H run down the columns of rows of B that are two apart.
    std::vector<Real> h(static_cast<std::size_t>(rows * kColumns)),
        b(static_cast<std::size_t>(rows * kFunctions));
    for (Real& x : h) x = static_cast<Real>(normal(rng));
    for (Real& x : b) x = static_cast<Real>(normal(rng));
    std::vector<Real> turned(h.size());
    const auto h_at = [&](index_t i, index_t l) -> Real& {
      return h[static_cast<std::size_t>(i * kColumns + l)];
    };
    for (index_t i = 0; i < rows; ++i) {
      const index_t s = which[static_cast<std::size_t>(i / each)];
      for (index_t l = 0; l < kColumns; ++l) {
        const bool padding = s < 4 && l >= lengths[static_cast<std::size_t>(s)];
        if (padding) h_at(i, l) = std::numeric_limits<Real>::quiet_NaN();
        turned[static_cast<std::size_t>(l * rows + i)] = h_at(i, l);
      }
    }
    const DeviceArray<Real> device_h(turned), device_b(b), fitted(b.size() * 2), gradient(h.size());
    cuda::DeviceRows<const Real> in(device_h.data(), rows, kColumns, 1);
    in.step = rows;
    cuda::DeviceRows<Real> out(fitted.data(), rows, kFunctions, 2 * kFunctions);
    out.step = 2;
    cuda::ridge_fit<Real>(ridge.matrices(), device_which.data(), kSequences, in, out, nullptr);
    cuda::ridge_fit_vjp<Real>(ridge.matrices(), device_which.data(), kSequences, device_b.rows(rows),
                              gradient.rows(rows), nullptr);
    const std::vector<Real> got = fitted.values(), slopes = gradient.values();
    for (index_t i = 0; i < rows; ++i) {
      const auto s = static_cast<std::size_t>(which[static_cast<std::size_t>(i / each)]);
      const index_t length = s < 4 ? lengths[s] : 0;
      const auto near = [&](Real x, double expected, double size) {
        const double rounding =
            static_cast<double>(std::numeric_limits<Real>::epsilon()) * std::abs(expected);
        const double least = static_cast<double>(std::numeric_limits<Real>::denorm_min());
        return s < 4 ? std::abs(static_cast<double>(x) - expected) <= rounding + 1e-14 * size + least
                     : std::isnan(x);
      };
      for (index_t j = 0; j < kFunctions; ++j) {
        double sum = 0, size = 0;
        for (index_t l = 0; l < length; ++l) {
          sum += static_cast<double>(h_at(i, l)) * ridge.at(s, l, j);
          size += std::abs(static_cast<double>(h_at(i, l)) * ridge.at(s, l, j));
        }
        ASSERT_TRUE(near(got[static_cast<std::size_t>((i * kFunctions + j) * 2)], sum, size))
            << i << ' ' << j;
        ASSERT_TRUE(std::isnan(got[static_cast<std::size_t>((i * kFunctions + j) * 2 + 1)]));
      }
      for (index_t l = 0; l < kColumns; ++l) {
        double sum = 0, size = 0;
        for (index_t j = 0; j < kFunctions && l < length; ++j) {
          const double x = b[static_cast<std::size_t>(i * kFunctions + j)];
          sum += x * ridge.at(s, l, j);
          size += std::abs(x * ridge.at(s, l, j));
        }
        ASSERT_TRUE(near(slopes[static_cast<std::size_t>(i * kColumns + l)], sum, size)) << i << ' ' << l;
      }
    }
  }
}

TEST_F(CudaRidge, ProductsInDouble) { expect_products<double>(); }
TEST_F(CudaRidge, ProductsInFloat) { expect_products<float>(); }

TEST_F(CudaRidge, RefusesWhatItCanSee) {
  const DeviceArray<double> numbers(100);
  const DeviceArray<std::int64_t> lengths(std::vector<std::int64_t>{5});
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  const auto matrices = [&](cuda::RidgeDesigns designs, double lambda) {
    return message([&] { cuda::ridge_matrices(designs, lambda, numbers.data(), numbers.data(), nullptr); });
  };
  EXPECT_EQ(matrices({numbers.data(), lengths.data(), 1, 4, 5}, -1),
            "fenchel::cuda::ridge_matrices: lambda must be finite and not negative, got -1");
  EXPECT_EQ(matrices({numbers.data(), lengths.data(), 1, 0, 5}, 1),
            "fenchel::cuda::ridge_matrices: functions must be positive, got 0");
  EXPECT_EQ(matrices({nullptr, lengths.data(), 1, 4, 5}, 1),
            "fenchel::cuda::ridge_matrices: values must not be null, got a null pointer");
  EXPECT_EQ(matrices({nullptr, nullptr, 0, 4, 5}, 1), "");
  const auto fit = [&](index_t sequences, index_t cols, index_t rows) {
    return message([&] {
      cuda::ridge_fit<double>({numbers.data(), lengths.data(), 1, 4, 5}, nullptr, sequences,
                              {numbers.data(), rows, 5}, {numbers.data(), rows, cols}, nullptr);
    });
  };
  EXPECT_EQ(fit(2, 3, 4),
            "fenchel::cuda::ridge_fit: coefficients must have a column for each function, 4, got 3");
  EXPECT_EQ(fit(3, 4, 4), "fenchel::cuda::ridge_fit: sequences must divide the number of rows, 4, got 3");
  EXPECT_EQ(fit(0, 4, 0), "");
}

}  // namespace
}  // namespace fenchel
