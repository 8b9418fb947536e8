#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/backend/cuda/attention.hpp"
#include "gpu.hpp"
#include "unit/backend/attention_batch.hpp"

/// Attention in R^D on a GPU against the CPU's, which is tested against multiprecision.
namespace fenchel {
namespace {

using test::DeviceArray;
using testing::Batch, testing::Numbers, testing::Part;

class CudaAttentionSpace : public test::GpuTest {};

template <class Real>
std::vector<Real> rounded(const Numbers& x) {
  return {x.begin(), x.end()};
}
template <class Real>
Numbers as_doubles(const std::vector<Real>& x) {
  return {x.begin(), x.end()};
}

/// A batch whose numbers are Reals, on the GPU. Results are as_doubles.
template <class Real>
class OnGpu {
 public:
  explicit OnGpu(const Batch& batch)
      : batch_(batch),
        numbers_(rounded<Real>(batch.at)),
        alpha_(slice(batch.at, batch.alpha(), batch.mean())),
        functions_(slice(batch.at, batch.mean(), batch.size())) {}

  [[nodiscard]] cuda::Densities<Real> densities() const {
    const auto tangents = parts<const Real>(numbers_);
    return {alpha_.span(), tangents.mu, tangents.Sigma};
  }
  [[nodiscard]] cuda::GaussianFunctions functions() const {
    const auto tangents = basis_parts<const double>(functions_);
    return {tangents.mu, tangents.Sigma};
  }

  [[nodiscard]] Numbers attend() const {
    const DeviceArray<Real> r(static_cast<std::size_t>(batch_.rows * batch_.count));
    cuda::attend(densities(), functions(), r.rows(batch_.rows), nullptr);
    return as_doubles(r.values());
  }
  /// As Batch::gradient has it.
  [[nodiscard]] Numbers gradient(const Numbers& cotangent, bool alpha = true) const {
    const DeviceArray<Real> by(rounded<Real>(cotangent)), out(static_cast<std::size_t>(batch_.mean()));
    const DeviceArray<double> basis(static_cast<std::size_t>(batch_.size() - batch_.mean()));
    cuda::attend_vjp(densities(), functions(), by.rows(batch_.rows), parts<Real>(out, alpha),
                     basis_parts<double>(basis), nullptr);
    Numbers all = as_doubles(out.values());
    const Numbers rest = basis.values();
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  [[nodiscard]] Numbers tangent(const Numbers& direction, bool alpha = true, bool basis = true) const {
    const DeviceArray<Real> along(rounded<Real>(direction)),
        out(static_cast<std::size_t>(batch_.rows * batch_.count));
    const DeviceArray<double> turn(slice(direction, batch_.mean(), batch_.size()));
    cuda::attend_jvp<Real>(densities(), functions(), parts<const Real>(along, alpha),
                           basis ? basis_parts<const double>(turn) : cuda::BasisTangents<const double>(),
                           out.rows(batch_.rows), nullptr);
    return as_doubles(out.values());
  }
  /// As Batch::hessian has it.
  [[nodiscard]] Numbers hessian(const Numbers& cotangent, const Numbers& direction) const {
    const DeviceArray<Real> by(rounded<Real>(cotangent)), along(rounded<Real>(direction)),
        out(static_cast<std::size_t>(batch_.mean()));
    const DeviceArray<double> turn(slice(direction, batch_.mean(), batch_.size())), basis(turn.size());
    cuda::attend_vjp_vjp<Real>(densities(), functions(), by.rows(batch_.rows), parts<const Real>(along),
                               basis_parts<const double>(turn), parts<Real>(out), basis_parts<double>(basis),
                               nullptr);
    Numbers all = as_doubles(out.values());
    const Numbers rest = basis.values();
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

 private:
  /// mu, Sigma and alpha of a batch's numbers.
  template <class T>
  [[nodiscard]] cuda::DensityTangents<T> parts(const DeviceArray<Real>& x, bool alpha = true) const {
    const index_t d = batch_.dimension, rows = batch_.rows;
    const std::span<T> of_alpha(x.data() + batch_.alpha(), static_cast<std::size_t>(rows));
    return {alpha ? of_alpha : std::span<T>(), {x.data(), rows, d}, {x.data() + batch_.scale(), rows, d * d}};
  }
  /// mu and Sigma of the functions.
  template <class T>
  [[nodiscard]] cuda::BasisTangents<T> basis_parts(const DeviceArray<double>& x) const {
    const index_t d = batch_.dimension, count = batch_.count;
    return {{x.data(), count, d}, {x.data() + count * d, count, d * d}};
  }
  [[nodiscard]] static Numbers slice(const Numbers& x, index_t begin, index_t end) {
    return {x.begin() + begin, x.begin() + end};
  }
  Batch batch_;
  DeviceArray<Real> numbers_;
  DeviceArray<double> alpha_, functions_;
};

/// The batch that a Real can store.
template <class Real>
Batch stored_batch(Batch batch) {
  for (index_t k = 0; k < batch.alpha(); ++k) {
    double& x = batch.at[static_cast<std::size_t>(k)];
    x = static_cast<double>(static_cast<Real>(x));
  }
  return batch;
}

Numbers attend_on_cpu(const Batch& batch) {
  Numbers r(static_cast<std::size_t>(batch.rows * batch.count));
  cpu::attend<double>(batch.densities(batch.at), batch.functions(batch.at),
                      {r.data(), batch.rows, batch.count});
  return r;
}

/// Calls body for dimensions, alphas and widths of functions, narrow to wide.
template <class Body>
void for_each_batch(const Body& body) {
  for (const index_t d : {2, 3, 4, 5}) {
    for (const double alpha : testing::kBatchAlphas) {
      if (!(alpha > 1 - 2 / static_cast<double>(d))) continue;
      for (const double width : {0.02, 0.3, 3.0, 1e3}) {
        SCOPED_TRACE(::testing::Message() << "D " << d << " alpha " << alpha << " width " << width);
        body(testing::make_batch(5, 37, d, alpha, width, 7));
      }
    }
  }
}

/// Of one kind of parameter, relative to its largest; d / dalpha also to `terms`, the sizes of what it is a
/// sum of: for wide functions that cancels.
void expect_near(const Numbers& got, const Numbers& expected, const Batch& batch, double tolerance,
                 double terms) {
  ASSERT_EQ(got.size(), expected.size());
  for (const Part& part : testing::parts_of(batch)) {
    const double most = testing::largest(expected, part) + (part.begin == batch.alpha() ? terms : 0);
    for (index_t k = part.begin; k < part.end; ++k) {
      const auto at = static_cast<std::size_t>(k);
      ASSERT_NEAR(got[at], expected[at], tolerance * most + 1e-300) << part.name << " " << k - part.begin;
    }
  }
}

/// The largest sum over functions of |cotangent| r.
double largest_sum(const Batch& batch, const Numbers& cotangent, const Numbers& r) {
  double most = 0;
  for (index_t i = 0; i < batch.rows; ++i) {
    double sum = 0;
    for (index_t k = i * batch.count; k < (i + 1) * batch.count; ++k) {
      sum += std::abs(cotangent[static_cast<std::size_t>(k)]) * r[static_cast<std::size_t>(k)];
    }
    most = std::max(most, sum);
  }
  return most;
}

/// A value sees roundings of the radius as often as its logarithm is large.
void expect_values(const Numbers& got, const Numbers& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double depth = expected[k] > 0 ? 1 + std::abs(std::log(expected[k])) : 1;
    ASSERT_NEAR(got[k], expected[k], tolerance * depth * expected[k] + 1e-300) << k;
  }
}

TEST_F(CudaAttentionSpace, ValuesAreThoseOfTheCpu) {
  for_each_batch([](const Batch& batch) {
    expect_values(OnGpu<double>(batch).attend(), attend_on_cpu(batch), cpu::kAttendLineError);
  });
}

TEST_F(CudaAttentionSpace, FloatsAreAccurate) {
  for_each_batch([](const Batch& any) {
    const Batch batch = stored_batch<float>(any);
    const Numbers got = OnGpu<float>(batch).attend(), expected = attend_on_cpu(batch);
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (expected[k] < 1e-37) continue;
      ASSERT_NEAR(got[k], expected[k], cpu::kAttendFloatError / 4 * expected[k]) << k;
    }
  });
}

TEST_F(CudaAttentionSpace, GradientsAreThoseOfTheCpu) {
  for_each_batch([](const Batch& batch) {
    const Numbers cotangent = testing::random_numbers(batch.rows * batch.count, 3);
    expect_near(OnGpu<double>(batch).gradient(cotangent), batch.gradient(batch.at, cotangent), batch,
                cpu::kAttendSlopeError, largest_sum(batch, cotangent, attend_on_cpu(batch)));
  });
}

TEST_F(CudaAttentionSpace, GradientsOfFloatsAreAccurate) {
  for_each_batch([](const Batch& any) {
    const Batch batch = stored_batch<float>(any);
    Numbers cotangent = testing::random_numbers(batch.rows * batch.count, 3);
    for (double& x : cotangent) x = static_cast<double>(static_cast<float>(x));
    const Numbers expected = batch.gradient(batch.at, cotangent);
    for (const Part& part : testing::parts_of(batch)) {
      if (testing::largest(expected, part) > 1e37) return;  // no float
    }
    expect_near(OnGpu<float>(batch).gradient(cotangent), expected, batch, cpu::kAttendFloatError,
                largest_sum(batch, cotangent, attend_on_cpu(batch)));
  });
}

TEST_F(CudaAttentionSpace, ASharedAlphaIsOneOfEachRow) {
  for (const double alpha : {0.9, 1.0, 4. / 3, 1.5, 1.7, 2.0, testing::kInf}) {
    const Batch batch = testing::make_batch(5, 37, 2, alpha, 0.3, 7);
    const OnGpu<double> gpu(batch);
    cuda::Densities<double> p = gpu.densities();
    p.alpha = alpha;
    const DeviceArray<double> r(static_cast<std::size_t>(5 * 37));
    cuda::attend(p, gpu.functions(), r.rows(5), nullptr);
    expect_values(r.values(), attend_on_cpu(batch), cpu::kAttendLineError);
    const Numbers cotangent = testing::random_numbers(5 * 37, 3),
                  expected = batch.gradient(batch.at, cotangent);
    const DeviceArray<double> by(cotangent), out(static_cast<std::size_t>(batch.alpha()));
    cuda::attend_vjp(p, gpu.functions(), by.rows(5),
                     {.mu = {out.data(), 5, 2}, .Sigma = {out.data() + batch.scale(), 5, 4}}, {}, nullptr);
    const Numbers got = out.values();
    for (const Part& part : {testing::parts_of(batch)[0], testing::parts_of(batch)[1]}) {
      for (index_t k = part.begin; k < part.end; ++k) {
        ASSERT_NEAR(got[static_cast<std::size_t>(k)], expected[static_cast<std::size_t>(k)],
                    cpu::kAttendSlopeError * testing::largest(expected, part))
            << alpha << " " << part.name;
      }
    }
  }
}

TEST_F(CudaAttentionSpace, TangentsAreThoseOfTheCpu) {
  for_each_batch([](const Batch& batch) {
    const Numbers direction = testing::random_direction(batch, 5);
    Numbers expected(static_cast<std::size_t>(batch.rows * batch.count));
    for (const bool basis : {false, true}) {
      cpu::attend_jvp<double>(
          batch.densities(batch.at), batch.functions(batch.at), batch.tangents<const double>(direction),
          basis ? batch.basis<const double>(direction) : cpu::BasisTangents<const double>{},
          {expected.data(), batch.rows, batch.count});
      const Numbers got = OnGpu<double>(batch).tangent(direction, true, basis);
      const Numbers r = attend_on_cpu(batch);
      double most = *std::max_element(r.begin(), r.end());
      for (const double x : expected) most = std::max(most, std::abs(x));
      for (std::size_t k = 0; k < got.size(); ++k) {
        ASSERT_NEAR(got[k], expected[k], cpu::kAttendSlopeError * most + 1e-300) << k << " " << basis;
      }
    }
  });
}

/// D = 1, too: second derivatives of the line are these.
TEST_F(CudaAttentionSpace, SecondDerivativesAreThoseOfTheCpu) {
  for (const index_t d : {1, 2, 3, 4}) {
    for (const double alpha : testing::kBatchAlphas) {
      if (!(alpha > 1 - 2 / static_cast<double>(d))) continue;
      for (const double width : {0.1, 1.0}) {
        SCOPED_TRACE(::testing::Message() << "D " << d << " alpha " << alpha << " width " << width);
        const Batch batch = testing::make_batch(5, 37, d, alpha, width, 7);
        const Numbers cotangent = testing::random_numbers(batch.rows * batch.count, 3),
                      direction = testing::random_direction(batch, 5);
        Numbers expected = batch.hessian(cotangent, direction),
                got = OnGpu<double>(batch).hessian(cotangent, direction);
        const double terms = largest_sum(batch, cotangent, attend_on_cpu(batch));
        if (d == 1 && std::isinf(alpha)) {  // uniform on an interval of length one: Sigma changes nothing
          for (index_t k = batch.scale(); k < batch.alpha(); ++k) {
            const auto at = static_cast<std::size_t>(k);
            ASSERT_NEAR(got[at], 0, 1e-12 * terms);
            got[at] = expected[at] = 0;
          }
        }
        expect_near(got, expected, batch, 2 * cpu::kAttendHessianError, terms);
      }
    }
  }
}

/// Sums over rows and functions of all sizes about a warp and a block.
TEST_F(CudaAttentionSpace, AnyNumberOfRowsAndFunctions) {
  for (const index_t rows : {1, 2, 3, 5, 127, 300}) {
    for (const index_t count : {1, 2, 31, 32, 33, 100, 129}) {
      const Batch batch = testing::make_batch(rows, count, 2, 1.5, 0.3, 11);
      const OnGpu<double> gpu(batch);
      expect_values(gpu.attend(), attend_on_cpu(batch), cpu::kAttendLineError);
      const Numbers cotangent = testing::random_numbers(rows * count, 3);
      expect_near(gpu.gradient(cotangent), batch.gradient(batch.at, cotangent), batch, cpu::kAttendSlopeError,
                  0);
    }
  }
}

TEST_F(CudaAttentionSpace, ResultsAreTheSameEveryTime) {
  const Batch batch = testing::make_batch(300, 100, 2, 1.5, 0.3, 11);
  const Numbers cotangent = testing::random_numbers(300 * 100, 3);
  const OnGpu<double> gpu(batch);
  EXPECT_EQ(gpu.gradient(cotangent), gpu.gradient(cotangent));
}

/// Outside of the support by 1e3 to 1e8 widths, and one that is not.
TEST_F(CudaAttentionSpace, FarFunctionsEnd) {
  for (const double alpha : {0.6, 0.9995, 1.0, 1.5, 2.0, testing::kInf}) {
    const Batch batch{1, 3, 2, {0,    0, 1, 0,    0,    1, alpha, 1e3,  0,   1e8, 1e8, 0,  0,
                                1e-4, 0, 0, 1e-4, 1e-9, 0, 0,     1e-2, 0.1, 0,   0,   0.1}};
    const Numbers got = OnGpu<double>(batch).attend(), expected = attend_on_cpu(batch);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(got[k], expected[k], 1e-9 * expected[k]) << alpha << " " << k;
    for (const double x : OnGpu<double>(batch).gradient({1, 1, 1})) EXPECT_TRUE(std::isfinite(x)) << alpha;
  }
}

TEST_F(CudaAttentionSpace, WhatDoesNotExistIsNaN) {
  const Batch good = testing::make_batch(5, 7, 2, 1.5, 0.3, 7);
  const Numbers expected = attend_on_cpu(good);
  Batch batch = good;
  batch.at[2] = testing::kNaN;                                                 // mu of row 1
  batch.at[static_cast<std::size_t>(batch.scale() + 2 * 4)] = -1;              // Sigma of row 2
  batch.at[static_cast<std::size_t>(batch.alpha() + 3)] = -0.5;                // alpha of row 3
  batch.at[static_cast<std::size_t>(batch.covariance() + 6 * 4 + 3)] = -1e-3;  // V of function 6
  const Numbers got = OnGpu<double>(batch).attend();
  const Numbers by_density = OnGpu<double>(batch).gradient(Numbers(35, 1.0));
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 7; ++j) {
      const auto k = static_cast<std::size_t>(i * 7 + j);
      if (j == 6 || (i > 0 && i < 4)) {
        EXPECT_TRUE(std::isnan(got[k])) << i << " " << j;
      } else {
        EXPECT_NEAR(got[k], expected[k], 1e-11 * expected[k]);
      }
    }
    EXPECT_TRUE(std::isnan(by_density[static_cast<std::size_t>(2 * i)]));
  }
}

TEST_F(CudaAttentionSpace, RefusesMoreDimensionsThanItHas) {
  const DeviceArray<double> memory(100);
  const auto one = [&](index_t cols) { return cuda::DeviceRows<double>(memory.data(), 1, cols); };
  EXPECT_THROW(cuda::attend<double>({1.5, one(9), one(81)}, {one(9), one(81)}, one(1), nullptr),
               std::invalid_argument);
  EXPECT_THROW(cuda::attend_vjp_vjp<double>({1.5, one(5), one(25)}, {one(5), one(25)}, one(1), {}, {},
                                            {.mu = one(5), .Sigma = one(25)}, {}, nullptr),
               std::invalid_argument);
}

}  // namespace
}  // namespace fenchel
