"""The transform and the filters against their plain definitions."""

import math

import numpy as np
import pytest
import torch

from experiments.audio import features


def noise(*shape, dtype=torch.float64, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def plain_power(x, m, k):
    """The sum of the definition, term by term."""
    total = 0j
    for t in range(400):
        n = 160 * m + t - 200
        if 0 <= n < len(x):
            window = 0.54 - 0.46 * math.cos(2 * math.pi * t / 400)
            total += window * x[n] * np.exp(-2j * math.pi * k * t / 400)
    return abs(total) ** 2


@pytest.mark.parametrize("samples, frames", [(1, 1), (159, 1), (160, 2), (1000, 7), (64000, 401)])
def test_a_frame_for_each_hop_and_one_more(samples, frames):
    assert features.frame_count(samples) == frames
    assert features.power_spectrogram(noise(samples)).shape == (frames, 201)


@pytest.mark.parametrize("dtype, bound", [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_the_power_is_that_of_the_plain_sum(dtype, bound):
    x = noise(700)
    expected = np.array([[plain_power(x.tolist(), m, k) for k in range(201)] for m in range(5)])
    power = features.power_spectrogram(x.to(dtype))
    assert power.dtype == dtype
    assert np.abs(power.numpy() - expected).max() < bound * expected.max()


def test_parseval():
    x = noise(3, 1600)
    power = features.power_spectrogram(x)
    both_sides = power[..., 0] + power[..., 200] + 2 * power[..., 1:200].sum(-1)
    window = 0.54 - 0.46 * torch.cos(2 * math.pi * torch.arange(400, dtype=torch.float64) / 400)
    frame = (window * x[:, 160 * 5 - 200 : 160 * 5 + 200]).square().sum(-1)
    torch.testing.assert_close(both_sides[:, 5] / 400, frame, rtol=1e-12, atol=0)


def plain_filter(frequency, left, middle, right):
    if left < frequency <= middle:
        return (frequency - left) / (middle - left)
    if middle < frequency < right:
        return (right - frequency) / (right - middle)
    return 0.0


def mel_edges():
    top = 2595 * math.log10(1 + 8000 / 700)
    return [700 * (10 ** (top * j / 81 / 2595) - 1) for j in range(82)]


def test_filters_are_triangles_between_neighbours():
    edges = mel_edges()
    expected = [[plain_filter(40 * k, *edges[j : j + 3]) for j in range(80)] for k in range(201)]
    filters = features.mel_filters()
    assert filters.shape == (201, 80)
    np.testing.assert_allclose(filters.numpy(), expected, rtol=0, atol=1e-10)
    assert (filters.sum(0) > 0).all()


def test_neighbouring_filters_add_to_one():
    frequencies = 40 * torch.arange(201)
    edges = mel_edges()
    between = (frequencies >= edges[1]) & (frequencies <= edges[80])
    total = features.mel_filters().sum(1)[between]
    torch.testing.assert_close(total, torch.ones_like(total))


@pytest.mark.parametrize("j", [20, 40, 60, 79])
def test_a_tone_is_loudest_in_its_filter(j):
    frequency = mel_edges()[j + 1]
    time = torch.arange(16000, dtype=torch.float64) / 16000
    assert (features.log_mel(torch.sin(2 * math.pi * frequency * time))[2:-2].argmax(-1) == j).all()


def test_decibels_have_the_formula_floor_and_range():
    x = noise(2, 4000)
    x[1, 2000:] = 0
    mel = features.power_spectrogram(x) @ features.mel_filters()
    decibels = 10 * torch.log10(mel.clamp(min=1e-10))
    top = decibels.amax((1, 2), keepdim=True)
    torch.testing.assert_close(features.log_mel(x), torch.where(decibels < top - 80, top - 80, decibels))
    assert features.log_mel(x)[1].min() == top[1, 0, 0] - 80
    assert (features.log_mel(torch.zeros(400)) == -100).all()


def test_twice_the_amplitude_is_six_decibels_more():
    x = noise(4000)
    difference = features.log_mel(2 * x) - features.log_mel(x)
    torch.testing.assert_close(difference, torch.full_like(difference, 20 * math.log10(2)))


def test_a_clip_in_a_batch_has_the_frames_that_it_has_alone():
    long, short = noise(3000, dtype=torch.float32), noise(1000, dtype=torch.float32, seed=1)
    batch = torch.stack([long, torch.nn.functional.pad(short, (0, 2000))])
    torch.testing.assert_close(features.log_mel(batch)[0], features.log_mel(long))
    torch.testing.assert_close(features.log_mel(batch)[1, : features.frame_count(1000)], features.log_mel(short))
