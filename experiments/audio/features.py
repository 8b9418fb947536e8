"""Features of audio: the short-time Fourier transform and mel filters, as torch operations on any device.

The settings are those of the paper: 16 kHz, windows of 25 ms every 10 ms, transforms of 400 points, 80 mel filters.
What the paper leaves open is as in the features of SpeechBrain, which its authors used: a Hamming window, zeros beyond
both ends of a clip, the power spectrum, and decibels that are cut at 1e-10 and at 80 dB below the clip's maximum.
"""

from __future__ import annotations

import math

import torch

SAMPLE_RATE = 16000
POINTS = 400
HOP = 160
MEL_FILTERS = 80
SMALLEST_POWER = 1e-10
RANGE_IN_DECIBELS = 80.0


def frame_count(samples: int) -> int:
    """The number of frames of a clip: samples // 160 + 1, since frame m is centred at sample 160 m."""
    return samples // HOP + 1


def power_spectrogram(waveform: torch.Tensor) -> torch.Tensor:
    """The power of 201 frequencies in each frame, of shape (..., frames, 201), for waveforms (..., samples).

    Of frame m and frequency k, which is 40 k Hz, it is

        P[m, k] = |sum_t w[t] x[160 m + t - 200] exp(-2 pi i k t / 400)|^2,   t = 0, ..., 399,

    where x is 0 outside of the clip and w[t] = .54 - .46 cos(2 pi t / 400) is the Hamming window.
    """
    window = torch.hamming_window(POINTS, periodic=True, dtype=waveform.dtype, device=waveform.device)
    padded = torch.nn.functional.pad(waveform, (POINTS // 2, POINTS // 2))
    return torch.fft.rfft(padded.unfold(-1, POINTS, HOP) * window).abs().square()


def hertz_to_mel(frequency: float) -> float:
    """The mel scale: 2595 log10(1 + frequency / 700)."""
    return 2595 * math.log10(1 + frequency / 700)


def mel_filters(
    count: int = MEL_FILTERS, lowest: float = 0.0, highest: float = SAMPLE_RATE / 2, points: int = POINTS
) -> torch.Tensor:
    """Weights of triangular filters, of shape (points / 2 + 1, count), in double precision.

    The frequencies f[0] < ... < f[count + 1] are equally spaced on the mel scale from lowest to highest. Filter j rises
    from 0 at f[j] to 1 at f[j + 1] and falls to 0 at f[j + 2], linearly in Hz:

        W[k, j] = max(0, min((h - f[j]) / (f[j + 1] - f[j]), (f[j + 2] - h) / (f[j + 2] - f[j + 1]))),

    where h = 16000 k / points Hz. In SpeechBrain filters fall as steeply as they rise; this is the one difference.
    """
    mel = torch.linspace(hertz_to_mel(lowest), hertz_to_mel(highest), count + 2, dtype=torch.float64)
    edges = 700 * (10 ** (mel / 2595) - 1)
    frequencies = torch.arange(points // 2 + 1, dtype=torch.float64)[:, None] * (SAMPLE_RATE / points)
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    return torch.minimum(rising, falling).clamp(min=0)


def log_mel(waveform: torch.Tensor) -> torch.Tensor:
    """The power in each mel filter in decibels, of shape (..., frames, 80), for waveforms (..., samples).

    With P and W as in `power_spectrogram` and `mel_filters` and S = P W it is

        L[m, j] = max(10 log10(max(S[m, j], 1e-10)), top - 80),   top = the largest of 10 log10(max(S, 1e-10)),

    where each clip has its own top. Zeros at the end of a waveform add frames and leave the others as they are.
    """
    power = power_spectrogram(waveform)
    decibels = 10 * (power @ mel_filters().to(power)).clamp(min=SMALLEST_POWER).log10()
    return torch.maximum(decibels, decibels.amax((-2, -1), keepdim=True) - RANGE_IN_DECIBELS)
