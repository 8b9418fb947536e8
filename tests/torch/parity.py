"""The rule of parity: in a precision a GPU errs at most twice as much as the CPU does, and by 4 roundings more, as in
tests/cuda/entmax_test.cpp. The CPU's maps in float32 are those in float64, rounded.

Threads of a GPU add up in an order that follows from how many they are, and so from a layout: two layouts, or an alpha
that is shared and one that is not, need not have the same bits. Each is held to the CPU's float64 instead.
"""

import torch

FLOAT64_ERROR = 1e-15
"""Of the CPU's own maps in float64, relative to the largest probability of a row."""


def assert_rows_at_parity(ours, exact, baseline, dim=-1):
    """Probabilities along dim against those of the CPU in float64, and in the precision of ours."""
    peak = exact.amax(dim, keepdim=True)
    if ours.dtype == torch.float64:
        allowed = FLOAT64_ERROR
    else:
        assert baseline.dtype == ours.dtype
        allowed = ((baseline.double() - exact).abs() / peak).max()
    error = ((ours.cpu().double() - exact).abs() / peak).max()
    assert error <= 2 * allowed + 4 * torch.finfo(ours.dtype).eps / 2, f"{error} against {allowed}"
