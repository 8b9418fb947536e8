#pragma once

/// The clips of UrbanSound8K whose audio is in the data folder, as sequences of log mel features.

#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sndfile.hh>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "features.hpp"

namespace experiments {

constexpr std::int64_t kFolds[] = {1, 2, 10};
constexpr std::int64_t kClasses = 10;
constexpr std::size_t kReadTogether = 64;
/// Its length does not agree with that of the same clip in other copies of the data.
constexpr const char* kLeftOut = "fold10/26344-4-1-0.ogg";

/// A tensor has a row for each clip: frames are (clips, longest, channels), and 0 after the end of a clip.
struct Clips {
  Tensor frames, lengths, classes, folds;

  /// Which frames are in their clip, (clips, longest, 1).
  [[nodiscard]] Tensor inside() const {
    return (torch::arange(frames.size(1)) < lengths.unsqueeze(-1)).unsqueeze(-1);
  }
};

/// The index of the audio files, us8k/meta.csv: a table without quotes.
class Index {
 public:
  explicit Index(const std::filesystem::path& file) : name_(file.string()), input_(file) {
    if (!input_) throw std::runtime_error(name_ + " is missing (README.md of the data folder)");
    columns_ = fields();
  }
  /// The next row, if there is one.
  [[nodiscard]] bool next() {
    row_ = fields();
    return !row_.empty();
  }
  [[nodiscard]] const std::string& text(const std::string& column) const {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    if (found == columns_.end()) throw std::runtime_error(name_ + ", line 1: must have a column " + column);
    const auto i = static_cast<std::size_t>(found - columns_.begin());
    if (i >= row_.size()) throw std::runtime_error(where() + column + " must be there, got a shorter line");
    return row_[i];
  }
  [[nodiscard]] std::int64_t number(const std::string& column, std::int64_t least) const {
    const std::string& digits = text(column);
    std::int64_t value = least - 1;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    if (end != digits.data() + digits.size() || value < least) {
      throw std::runtime_error(where() + column + " must be a whole number and at least " +
                               std::to_string(least) + ", got '" + digits + "'");
    }
    return value;
  }
  /// The file and the line, to begin a message with.
  [[nodiscard]] std::string where() const { return name_ + ", line " + std::to_string(line_) + ": "; }

 private:
  std::vector<std::string> fields() {
    std::string line, field;
    std::vector<std::string> found;
    ++line_;
    std::getline(input_, line);
    if (line.ends_with('\r')) line.pop_back();
    std::istringstream rest(line);
    while (std::getline(rest, field, ',')) found.push_back(field);
    return found;
  }

  std::string name_;
  std::ifstream input_;
  std::vector<std::string> columns_, row_;
  int line_ = 0;
};

/// The samples of an audio file of one channel at 16 kHz, which must be so many.
[[nodiscard]] inline Tensor read_waveform(const std::string& name, std::int64_t samples) {
  SndfileHandle file(name);
  const auto must = [&](bool good, const std::string& what, std::int64_t got) {
    if (!good) throw std::runtime_error(name + ": " + what + ", got " + std::to_string(got));
  };
  if (file.error() != SF_ERR_NO_ERROR) throw std::runtime_error(name + ": " + file.strError());
  must(file.samplerate() == kSampleRate, "the sample rate must be 16000 Hz", file.samplerate());
  must(file.channels() == 1, "must have 1 channel", file.channels());
  Tensor waveform = torch::empty({samples}, torch::kFloat);
  const sf_count_t read = file.frames() == samples ? file.readf(waveform.data_ptr<float>(), samples) : 0;
  must(read == samples, "must have the " + std::to_string(samples) + " samples that the index says",
       file.frames());
  return waveform;
}

/// The clips of folds 1, 2 and 10, but for one.
[[nodiscard]] inline Clips read_clips(const std::filesystem::path& folder) {
  const std::filesystem::path root = folder / "us8k";
  std::vector<std::string> files;
  std::vector<std::int64_t> samples, lengths, classes, folds;
  for (Index index(root / "meta.csv"); index.next();) {
    const std::int64_t fold = index.number("fold", 1), label = index.number("classID", 0);
    if (std::ranges::find(kFolds, fold) == std::end(kFolds) || index.text("filename") == kLeftOut) continue;
    if (label >= kClasses)
      throw std::runtime_error(index.where() + "classID must be below 10, got " + std::to_string(label));
    files.push_back((root / "audio" / index.text("filename")).string());
    samples.push_back(index.number("samples", 1));
    lengths.push_back(frame_count(samples.back()));
    classes.push_back(label);
    folds.push_back(fold);
  }
  if (files.empty())
    throw std::runtime_error((root / "meta.csv").string() +
                             ": must have a clip of fold 1, 2 or 10, got none");
  const auto count = static_cast<std::int64_t>(files.size());
  Clips clips{torch::zeros({count, std::ranges::max(lengths), kMelFilters}), torch::tensor(lengths),
              torch::tensor(classes), torch::tensor(folds)};
  const Tensor filters = mel_filters();
  for (std::size_t begin = 0; begin < files.size(); begin += kReadTogether) {
    std::vector<Tensor> waveforms;
    for (std::size_t i = begin; i < std::min(begin + kReadTogether, files.size()); ++i) {
      waveforms.push_back(read_waveform(files[i], samples[i]));
    }
    const Tensor features = log_mel(torch::nn::utils::rnn::pad_sequence(waveforms, true), filters);
    clips.frames.narrow(0, static_cast<std::int64_t>(begin), features.size(0))
        .narrow(1, 0, features.size(1))
        .copy_(features);
  }
  clips.frames.mul_(clips.inside());
  return clips;
}

/// From each channel of a clip its mean over the clip is subtracted. Each channel is then shifted and scaled
/// so that it has mean 0 and variance 1 over the frames of all folds but the one that is held out.
[[nodiscard]] inline Clips scaled(const Clips& clips, std::int64_t held_out) {
  const Tensor inside = clips.inside(), lengths = clips.lengths.view({-1, 1, 1});
  const Tensor centred = (clips.frames - clips.frames.sum(1, true) / lengths) * inside;
  const Tensor known = clips.folds.ne(held_out).to(torch::kDouble);
  const Tensor count = known.dot(clips.lengths.to(torch::kDouble));
  const Tensor mean = known.matmul(centred.sum(1, false, torch::kDouble)) / count;
  const Tensor norms = torch::linalg_vector_norm(centred, 2, {1}, false, torch::kDouble);
  const Tensor square = known.matmul(norms.square()) / count, variance = square - mean.square();
  const Tensor scale = torch::where(variance > 1e-12 * square, variance, torch::ones_like(variance)).rsqrt();
  const Tensor frames = (centred - mean.to(torch::kFloat)) * scale.to(torch::kFloat) * inside;
  return {frames, clips.lengths, clips.classes, clips.folds};
}

}  // namespace experiments
