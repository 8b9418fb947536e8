#pragma once

/// The paper's audio model: a convolution, discrete and continuous attention over time, an output layer.

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "fenchel/torch.hpp"
#include "fenchel/torch/values.hpp"

namespace experiments {

using torch::Tensor;

constexpr std::int64_t kFilters = 128, kWindow = 5, kPool = 3, kFunctions = 128;
constexpr double kDropout = 0.15, kRidge = 0.1;

/// x W + b, from the numbers of a generator: the Python program draws the same in the same order.
class Linear : public torch::nn::Module {
 public:
  Linear(std::int64_t inputs, std::int64_t outputs, const at::Generator& random, bool with_bias = true) {
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    const auto drawn = [&](at::IntArrayRef shape) {
      return torch::empty(shape).uniform_(-bound, bound, random);
    };
    weight_ = register_parameter("weight", drawn({inputs, outputs}));
    if (with_bias) bias_ = register_parameter("bias", drawn({1, outputs}));
  }
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor y = x.matmul(weight_);
    return bias_.defined() ? y + bias_ : y;
  }

 private:
  Tensor weight_, bias_;
};

/// From frames (clips, longest, channels), 0 beyond their lengths (clips), to scores (clips, classes).
class AudioModel : public torch::nn::Module {
 public:
  AudioModel(std::int64_t channels, std::int64_t classes, double alpha, const at::Generator& random)
      : alpha_(alpha),
        convolution_(layer("convolution", channels * kWindow, kFilters, random)),
        keys_(layer("keys", kFilters, kFilters, random)),
        query_(layer("query", kFilters, 1, random, false)),
        output_(layer("output", kFilters, classes, random)),
        value_function_(basis(), kRidge) {}

  [[nodiscard]] Tensor forward(const Tensor& frames, const Tensor& lengths) {
    return output_->forward(attend(encode(frames), lengths.floor_divide(kPool).clamp_min(1)));
  }

 private:
  std::shared_ptr<Linear> layer(const std::string& name, std::int64_t inputs, std::int64_t outputs,
                                const at::Generator& random, bool bias = true) {
    return register_module(name, std::make_shared<Linear>(inputs, outputs, random, bias));
  }

  /// Half of the functions have the standard deviation 0.1, and half 0.5; their centres are from 0 to 1.
  [[nodiscard]] static fenchel::libtorch::GaussianBasis basis() {
    const Tensor mu = torch::linspace(0, 1, kFunctions / 2, torch::kDouble), one = torch::ones_like(mu);
    return {torch::cat({mu, mu}), torch::cat({0.1 * one, 0.5 * one})};
  }

  /// What attention reads, (clips, longest / 3, filters): a convolution over 5 frames, the largest of each 3,
  /// ReLU and dropout.
  [[nodiscard]] Tensor encode(const Tensor& frames) const {
    const Tensor padded = torch::constant_pad_nd(frames, {0, 0, kWindow / 2, kWindow / 2});
    const Tensor filtered = convolution_->forward(padded.unfold(1, kWindow, 1).flatten(-2));
    const std::int64_t pooled = filtered.size(1) / kPool;
    const Tensor parts = filtered.narrow(1, 0, pooled * kPool).unflatten(1, {pooled, kPool});
    return torch::dropout(std::get<0>(parts.max(2)).relu(), kDropout, is_training());
  }

  /// The sum of two contexts: of softmax weights, and of the density that has their mean and variance.
  [[nodiscard]] Tensor attend(const Tensor& hidden, const Tensor& lengths) {
    const Tensor padding = torch::arange(hidden.size(1)) >= lengths.unsqueeze(-1);
    const Tensor values = hidden.masked_fill(padding.unsqueeze(-1), 0);
    const Tensor scores = query_->forward(keys_->forward(hidden).tanh()).squeeze(-1);
    const Tensor weights = scores.masked_fill(padding, -std::numeric_limits<double>::infinity()).softmax(-1);
    const auto [mu, sigma2] = fenchel::libtorch::match_weights(alpha_, weights, {}, std::nullopt, lengths);
    const Tensor seen = fenchel::libtorch::continuous_attention(alpha_, mu, sigma2, value_function_.basis());
    return weights.unsqueeze(1).matmul(values).squeeze(1) + value_function_.contexts(seen, values, lengths);
  }

  double alpha_;
  std::shared_ptr<Linear> convolution_, keys_, query_, output_;
  fenchel::libtorch::RidgeValues value_function_;
};

}  // namespace experiments
