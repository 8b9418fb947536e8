// The paper's audio classifier without Python: the kind "both" of experiments/audio, one model, which is
// trained on two folds of UrbanSound8K and tried on the third. It starts from the same numbers as the Python
// program with the same seed and sees the same clips in the same order, so that its first losses are the same
// up to rounding.
#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "clips.hpp"
#include "model.hpp"

namespace experiments {
namespace {

constexpr std::int64_t kBatch = 16, kTestBatch = 64;
constexpr double kRate = 1e-3, kWeightDecay = 2e-6;
constexpr const char* kUsage =
    "audio --data DIR [--fold N] [--seed N] [--alpha A] [--epochs N] [--steps N]\n\n"
    "Trains on the folds 1, 2 and 10 of DIR/us8k but for one, and prints its accuracy on that one.\n"
    "  --fold N    the fold to be tried on, 1, 2 or 10; 10 unless said\n"
    "  --seed N    of the first parameters, the orders and dropout; 0 unless said\n"
    "  --alpha A   of the densities, above 1/3; 2 unless said\n"
    "  --epochs N  20 unless said\n"
    "  --steps N   print the loss of each of the first N steps, and train no further\n";

struct Options {
  std::string data;
  std::int64_t fold = 10, epochs = 20, steps = 0;
  std::uint64_t seed = 0;
  double alpha = 2;
};

template <class Number>
void read_number(const std::string& name, const std::string& text, Number least, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (stopped != end || error != std::errc() || !(number >= least)) {
    throw std::runtime_error(c10::str(name, " must be a number and at least ", least, ", got '", text, "'"));
  }
}

[[nodiscard]] Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string name = words[i], text = i + 1 < count ? words[i + 1] : "";
    if (name == "--data")
      options.data = text;
    else if (name == "--fold")
      read_number(name, text, std::int64_t{1}, options.fold);
    else if (name == "--seed")
      read_number(name, text, std::uint64_t{0}, options.seed);
    else if (name == "--alpha")
      read_number(name, text, 0.0, options.alpha);
    else if (name == "--epochs")
      read_number(name, text, std::int64_t{1}, options.epochs);
    else if (name == "--steps")
      read_number(name, text, std::int64_t{1}, options.steps);
    else
      throw std::runtime_error("there is no option " + name + "\n\n" + kUsage);
  }
  if (options.data.empty()) throw std::runtime_error(std::string("--data must be given\n\n") + kUsage);
  if (std::ranges::find(kFolds, options.fold) == std::end(kFolds)) {
    throw std::runtime_error("--fold must be 1, 2 or 10, got " + std::to_string(options.fold));
  }
  return options;
}

/// The order in which clips are seen: (epochs, steps, batch) of positions among `count`. The few that do not
/// fill a batch are others in each epoch.
[[nodiscard]] Tensor orders(std::int64_t count, std::int64_t epochs, std::uint64_t seed) {
  const std::int64_t steps = count / kBatch;
  if (steps == 0)
    throw std::runtime_error("there must be 16 clips to learn from, got " + std::to_string(count));
  const at::Generator random = at::make_generator<at::CPUGeneratorImpl>(seed);
  std::vector<Tensor> each;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    each.push_back(torch::randperm(count, random).narrow(0, 0, steps * kBatch).view({steps, kBatch}));
  }
  return torch::stack(each);
}

/// Trains, with a line for each epoch, or for each of the steps asked for.
void train(AudioModel& model, const Clips& clips, const Tensor& examples, std::int64_t only_steps) {
  const auto started = std::chrono::steady_clock::now();
  torch::optim::Adam optimizer(model.parameters(),
                               torch::optim::AdamOptions(kRate).weight_decay(kWeightDecay));
  const std::int64_t epochs = examples.size(0), steps = examples.size(1);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    double sum = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      const Tensor chosen = examples[epoch][step];
      const Tensor scores = model.forward(clips.frames.index({chosen}), clips.lengths.index({chosen}));
      const Tensor loss = torch::nn::functional::cross_entropy(scores, clips.classes.index({chosen}));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
      if (only_steps == 0) continue;
      const std::int64_t done = epoch * steps + step + 1;
      std::printf("step %lld: loss %.9g\n", static_cast<long long>(done), loss.item<double>());
      if (done == only_steps) return;
    }
    if (only_steps != 0) continue;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started;
    const auto left = static_cast<long long>(passed.count() * static_cast<double>(epochs - epoch - 1) /
                                             static_cast<double>(epoch + 1));
    std::printf("epoch %lld of %lld: loss %.4f, %lld:%02lld left\n", static_cast<long long>(epoch + 1),
                static_cast<long long>(epochs), sum / static_cast<double>(steps), left / 60, left % 60);
    std::fflush(stdout);
  }
}

/// How many of the held-out clips the model gets right.
[[nodiscard]] std::int64_t count_right(AudioModel& model, const Clips& clips, const Tensor& held_out) {
  const torch::NoGradGuard no_gradients;
  model.eval();
  std::int64_t right = 0;
  for (const Tensor& chosen : held_out.split(kTestBatch)) {
    const Tensor scores = model.forward(clips.frames.index({chosen}), clips.lengths.index({chosen}));
    right += scores.argmax(-1).eq(clips.classes.index({chosen})).sum().item<std::int64_t>();
  }
  return right;
}

void run(const Options& options) {
  const Clips clips = scaled(read_clips(options.data), options.fold);
  const Tensor known = clips.folds.ne(options.fold).nonzero().squeeze(-1),
               held_out = clips.folds.eq(options.fold).nonzero().squeeze(-1);
  const Tensor examples = known.index({orders(known.numel(), options.epochs, options.seed)});
  torch::manual_seed(options.seed);
  AudioModel model(kMelFilters, clips.classes.max().item<std::int64_t>() + 1, options.alpha,
                   at::make_generator<at::CPUGeneratorImpl>(options.seed));
  train(model, clips, examples, options.steps);
  const std::int64_t right = count_right(model, clips, held_out);
  std::printf("accuracy %.3f of %lld clips\n",
              static_cast<double>(right) / static_cast<double>(held_out.numel()),
              static_cast<long long>(held_out.numel()));
}

}  // namespace
}  // namespace experiments

int main(int count, char** words) {
  try {
    experiments::run(experiments::read_options(count, words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "audio: %s\n", error.what());
    return 1;
  }
  return 0;
}
