#pragma once

#include <vector>

#include "fenchel/backend/cuda/beta_gaussian.hpp"
#include "gpu.hpp"
#include "support/beta_gaussian_params.hpp"

namespace fenchel::test {

/// The parameters of a BetaGaussianCase in the memory of the GPU.
class DeviceBetaGaussian {
 public:
  explicit DeviceBetaGaussian(const cpu::BetaGaussianParams& p)
      : constants_(p.constants),
        mu_(std::vector(p.mu.begin(), p.mu.end())),
        whitening_(contents(p.whitening)),
        factor_(contents(p.factor)) {}

  [[nodiscard]] cuda::BetaGaussianParams params() const {
    return {constants_, static_cast<index_t>(mu_.size()), mu_.data(), whitening_.data(), factor_.data()};
  }

 private:
  static std::vector<double> contents(Rows<const double> matrix) {
    return {matrix.row(0), matrix.row(0) + matrix.rows * matrix.cols};
  }

  BetaGaussianConstants constants_;
  DeviceArray<double> mu_, whitening_, factor_;
};

}  // namespace fenchel::test
