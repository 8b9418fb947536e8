// In which third of a noisy signal is its burst? A network scores the frames, sparse attention gives most of
// them a weight of exactly zero, the mean and variance of the weights place a density on the line, and a
// linear classifier reads the mean of some functions under that density. All of it learns from the class
// alone: nobody tells it where the burst is. Ends with 1 when it has not found out.
#include <torch/torch.h>

#include <cstdio>

#include "fenchel/torch.hpp"

namespace {

using torch::Tensor;

constexpr std::int64_t kFrames = 64, kSamplesAFrame = 8, kClasses = 3, kFunctions = 16, kSignals = 300;
constexpr double kWidth = 0.04;
constexpr int kEpochs = 100;

struct Signals {
  Tensor middle;  ///< of the burst, in [0, 1)
  Tensor energy;  ///< of each frame
  [[nodiscard]] Tensor classes() const { return (kClasses * middle).to(torch::kLong); }
};

/// Where the frames are.
Tensor positions() { return (torch::arange(kFrames) + 0.5) / kFrames; }

/// Noise of variance one, and three times as loud around the burst's middle.
Signals make_signals() {
  const Tensor middle = torch::rand({kSignals});
  const Tensor distance = (positions() - middle.unsqueeze(-1)) / kWidth;
  const Tensor loudness = 1 + 2 * torch::exp(-distance.square() / 2);
  const Tensor samples = loudness.unsqueeze(-1) * torch::randn({kSignals, kFrames, kSamplesAFrame});
  return {middle, samples.square().mean(-1)};
}

/// What a classifier looks at: the frames' weights, and the density that they place.
struct Attention {
  Tensor weights, mu, sigma2;
};

class Classifier : public torch::nn::Module {
 public:
  Classifier() {
    register_module("scores", scores_);
    register_module("classes", classes_);
  }
  [[nodiscard]] Attention attend(const Tensor& energy) {
    const Tensor weights = fenchel::libtorch::entmax15(scores_->forward(energy.unsqueeze(1)).squeeze(1));
    const Tensor t = positions(), mu = (weights * t).sum(-1);
    const Tensor variance = (weights * (t - mu.unsqueeze(-1)).square()).sum(-1);
    return {weights, mu, variance + 1e-4};
  }
  [[nodiscard]] Tensor forward(const Tensor& energy) {
    const Attention attention = attend(energy);
    return classes_->forward(
        fenchel::libtorch::continuous_attention(2, attention.mu, attention.sigma2, basis_));
  }

 private:
  torch::nn::Sequential scores_{torch::nn::Conv1d(torch::nn::Conv1dOptions(1, 8, 5).padding(2)),
                                torch::nn::ReLU(),
                                torch::nn::Conv1d(torch::nn::Conv1dOptions(8, 1, 5).padding(2))};
  torch::nn::Linear classes_{kFunctions, kClasses};
  fenchel::libtorch::GaussianBasis basis_{torch::linspace(0, 1, kFunctions), torch::full({kFunctions}, 0.05)};
};

double share(const Tensor& x) { return x.to(torch::kDouble).mean().item<double>(); }

}  // namespace

int main() {
  torch::manual_seed(2022);
  const Signals train = make_signals(), test = make_signals();
  Classifier model;
  torch::optim::Adam optimizer(model.parameters(), 0.02);
  for (int epoch = 0; epoch <= kEpochs; ++epoch) {
    const Tensor loss = fenchel::libtorch::entmax_loss(model.forward(train.energy), train.classes());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (epoch % 50 == 0) std::printf("epoch %3d: loss %.4f\n", epoch, loss.item<double>());
  }

  const torch::NoGradGuard no_gradients;
  const auto [weights, mu, sigma2] = model.attend(test.energy);
  const Tensor in_burst = (positions() - test.middle.unsqueeze(-1)).abs() < 3 * kWidth;
  const double accuracy = share(model.forward(test.energy).argmax(-1) == test.classes());
  const double error = share((mu - test.middle).abs());
  std::printf("attention: %.1f of %d frames have a weight, %.3f of it in the burst, %.3f off its middle\n",
              share((weights > 0).sum(-1)), static_cast<int>(kFrames), share((weights * in_burst).sum(-1)),
              error);
  std::printf("accuracy on %d new signals: %.3f\n", static_cast<int>(kSignals), accuracy);
  return accuracy > 0.9 && error < 0.05 ? 0 : 1;
}
