// In which third of a noisy signal is its burst? The energies of frames are scores, their softmax gives
// weights, the weights become a density, and a value function with one number a class is read under it. The
// classifier learns the value function and how sharply to look, by gradients that go through all of these
// steps and are exact.
#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/fenchel.hpp"

namespace {

using namespace fenchel;

constexpr index_t kFrames = 64, kClasses = 3, kFunctions = 16;
constexpr int kSamplesAFrame = 8, kSignals = 300, kEpochs = 150;

struct Signal {
  Eigen::VectorXd energy;  ///< of each frame
  index_t place;           ///< the third that the burst's middle lies in
};

/// Noise of variance one, and three times as loud around the burst's middle. A number is a signal.
Signal make_signal(std::uint64_t number) {
  Philox random(2022, number);
  const double middle = uniform01(random);
  Signal signal{Eigen::VectorXd::Zero(kFrames), static_cast<index_t>(kClasses * middle)};
  for (index_t frame = 0; frame < kFrames; ++frame) {
    for (int k = 0; k < kSamplesAFrame; ++k) {
      const double t = (static_cast<double>(frame) + (k + 0.5) / kSamplesAFrame) / kFrames;
      const double distance = (t - middle) / 0.04;
      const double x = (1 + 2 * std::exp(-distance * distance / 2)) * standard_normal(random);
      signal.energy[frame] += x * x / kSamplesAFrame;
    }
  }
  return signal;
}

std::vector<Signal> make_signals(std::uint64_t first) {
  std::vector<Signal> signals;
  for (std::uint64_t k = 0; k < kSignals; ++k) signals.push_back(make_signal(first + k));
  return signals;
}

Eigen::VectorXd softmax(const Eigen::VectorXd& scores) {
  Eigen::VectorXd p(scores.size());
  cpu::softmax<double>({scores.data(), 1, scores.size()}, {p.data(), 1, p.size()});
  return p;
}

/// What is seen through attention: E[psi], continuous for a finite alpha, else the sum over the frames.
class Attention {
 public:
  explicit Attention(double alpha) : alpha_(alpha), design_(design_matrix(psi_, positions(kFrames))) {}

  [[nodiscard]] Eigen::VectorXd see(const Eigen::VectorXd& weights) const {
    return discrete() ? Eigen::VectorXd(design_ * weights) : attend(match_weights(alpha_, weights), psi_);
  }
  /// From the gradient in E[psi] that in the weights.
  [[nodiscard]] Eigen::VectorXd see_vjp(const Eigen::VectorXd& weights,
                                        const Eigen::VectorXd& cotangent) const {
    if (discrete()) return design_.transpose() * cotangent;
    return match_weights_vjp(alpha_, weights, attend_vjp(match_weights(alpha_, weights), psi_, cotangent))
        .weights;
  }

 private:
  [[nodiscard]] bool discrete() const { return std::isinf(alpha_); }

  double alpha_;
  GaussianBasis psi_ = GaussianBasis::linearly_spaced(kFunctions, 0, 1, {0.05});
  Eigen::MatrixXd design_;
};

struct Classifier {
  Eigen::MatrixXd values = Eigen::MatrixXd::Zero(kClasses, kFunctions);  ///< B of V(t) = B psi(t)
  double sharpness = 1;                                                  ///< scores = sharpness * energies
};

double accuracy(const Classifier& model, const Attention& attention, const std::vector<Signal>& signals) {
  int right = 0;
  for (const Signal& signal : signals) {
    index_t best = 0;
    (model.values * attention.see(softmax(model.sharpness * signal.energy))).maxCoeff(&best);
    right += best == signal.place ? 1 : 0;
  }
  return right / static_cast<double>(signals.size());
}

/// One step down the gradient of the mean cross-entropy.
void improve(Classifier& model, const Attention& attention, const std::vector<Signal>& signals) {
  Eigen::MatrixXd values = Eigen::MatrixXd::Zero(kClasses, kFunctions);
  double sharpness = 0;
  for (const Signal& signal : signals) {
    const Eigen::VectorXd weights = softmax(model.sharpness * signal.energy), r = attention.see(weights);
    Eigen::VectorXd error = softmax(model.values * r);
    error[signal.place] -= 1;
    values += error * r.transpose();
    const Eigen::VectorXd gradient = attention.see_vjp(weights, model.values.transpose() * error);
    Eigen::VectorXd scores(kFrames);
    cpu::entmax_vjp<double>({weights.data(), 1, kFrames}, 1, {gradient.data(), 1, kFrames},
                            {scores.data(), 1, kFrames});
    sharpness += scores.dot(signal.energy);
  }
  const auto count = static_cast<double>(signals.size());
  model.values -= 0.5 / count * values;
  model.sharpness -= 0.05 / count * sharpness;
}

}  // namespace

int main() {
  const std::vector<Signal> train = make_signals(0), test = make_signals(kSignals);
  std::printf("attention            sharpness  accuracy on %d new signals\n", kSignals);
  const std::vector<std::pair<const char*, double>> kinds{{"discrete", kInfinity},
                                                          {"continuous, alpha 1", 1},
                                                          {"continuous, alpha 4/3", 4. / 3},
                                                          {"continuous, alpha 3/2", 1.5},
                                                          {"continuous, alpha 2", 2}};
  for (const auto& [name, alpha] : kinds) {
    const Attention attention(alpha);
    Classifier model;
    for (int epoch = 0; epoch < kEpochs; ++epoch) improve(model, attention, train);
    std::printf("%-21s %8.2f  %.3f\n", name, model.sharpness, accuracy(model, attention, test));
  }
}
