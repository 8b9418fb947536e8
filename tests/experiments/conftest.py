"""`import experiments` finds the checkout, wherever pytest is started."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
torch.set_num_threads(1)
