#pragma once

/// The log mel spectrogram of a waveform: what features.py of the Python program computes.

#include <torch/torch.h>

#include <cmath>
#include <cstdint>

namespace experiments {

using torch::Tensor;

constexpr std::int64_t kSampleRate = 16000, kPoints = 400, kHop = 160, kMelFilters = 80;
constexpr double kSmallestPower = 1e-10, kRangeInDecibels = 80;

/// Frame m is centred at sample 160 m.
[[nodiscard]] inline std::int64_t frame_count(std::int64_t samples) { return samples / kHop + 1; }

/// P[m, k] = |sum_t w[t] x[160 m + t - 200] exp(-2 pi i k t / 400)|^2, (..., frames, 201), for waveforms x
/// (..., samples), which are 0 outside of their clip, and the Hamming window w.
[[nodiscard]] inline Tensor power_spectrogram(const Tensor& waveform) {
  const Tensor window = torch::hamming_window(kPoints, true, waveform.options());
  const Tensor padded = torch::constant_pad_nd(waveform, {kPoints / 2, kPoints / 2});
  return torch::fft::rfft(padded.unfold(-1, kPoints, kHop) * window).abs().square();
}

[[nodiscard]] inline double hertz_to_mel(double frequency) { return 2595 * std::log10(1 + frequency / 700); }

/// Weights of triangular filters, (201, 80), in double precision: filter j rises from 0 at the frequency f[j]
/// to 1 at f[j + 1] and falls to 0 at f[j + 2], linearly in Hz. The frequencies f are equally spaced on the
/// mel scale from 0 to 8000 Hz.
[[nodiscard]] inline Tensor mel_filters() {
  const double highest = hertz_to_mel(static_cast<double>(kSampleRate) / 2);
  const Tensor mel = torch::linspace(0, highest, kMelFilters + 2, torch::kDouble);
  const Tensor edges = 700 * (torch::pow(10, mel / 2595) - 1);
  const Tensor f0 = edges.narrow(0, 0, kMelFilters), f1 = edges.narrow(0, 1, kMelFilters),
               f2 = edges.narrow(0, 2, kMelFilters);
  const Tensor hertz = torch::arange(kPoints / 2 + 1, torch::kDouble).unsqueeze(-1) * (kSampleRate / kPoints);
  return torch::minimum((hertz - f0) / (f1 - f0), (f2 - hertz) / (f2 - f1)).clamp_min(0);
}

/// The power in each filter in decibels, (..., frames, 80). A power is 1e-10 at least, and 80 dB below the
/// largest of its clip at least.
[[nodiscard]] inline Tensor log_mel(const Tensor& waveform, const Tensor& filters) {
  const Tensor power = power_spectrogram(waveform).matmul(filters.to(waveform.scalar_type()));
  const Tensor decibels = 10 * power.clamp_min(kSmallestPower).log10();
  return torch::maximum(decibels, decibels.amax({-2, -1}, true) - kRangeInDecibels);
}

}  // namespace experiments
