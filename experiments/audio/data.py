"""The clips of UrbanSound8K as sequences of feature vectors, with their classes and official folds.

They are read from a data folder, which is no part of the repository: all clips as MFCC sequences, or the folds whose
audio is there as log mel spectrograms.
"""

from __future__ import annotations

import csv
import io
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from . import features

CLASSES = (
    "air_conditioner",
    "car_horn",
    "children_playing",
    "dog_bark",
    "drilling",
    "engine_idling",
    "gun_shot",
    "jackhammer",
    "siren",
    "street_music",
)
NORMALISATIONS = ("coefficient", "clip")

MFCC_FILE = "us8k-mfcc.tar.xz"
MFCC_CHANNELS = 40
MFCC_ORIGIN = "MFCC sequences, from the pictures in Colour_Large_MFCC/ of github.com/StevenTsengBBK/MScProject"

MEL_INDEX = "us8k/meta.csv"
MEL_ORIGIN = "audio of folds 1, 2 and 10 as Ogg Vorbis at 16 kHz, from github.com/Alejandro-131004/AC-II"
MEL_FOLDS = (1, 2, 10)
#: Its length does not agree with the MFCC sequence of the same clip.
LEFT_OUT = "fold10/26344-4-1-0.ogg"
BATCH = 64


class Clips(NamedTuple):
    """Clips of several lengths; a tensor has a row for each clip."""

    #: (clips, longest, channels), 0 after the end of a clip.
    frames: torch.Tensor
    #: Frames of each clip.
    lengths: torch.Tensor
    #: Positions in `CLASSES`.
    classes: torch.Tensor
    #: The official fold of each clip.
    folds: torch.Tensor
    #: Without folder and extension, the same whichever features were read.
    names: list[str]
    #: What was read, in words.
    source: str

    def to(self, device: torch.device | str) -> Clips:
        """The same clips on a device."""
        tensors = (self.frames, self.lengths, self.classes, self.folds)
        return Clips(*(tensor.to(device) for tensor in tensors), self.names, self.source)

    def inside(self) -> torch.Tensor:
        """Which frames are in their clip, of shape (clips, longest)."""
        return torch.arange(self.frames.shape[1], device=self.frames.device) < self.lengths[:, None]


def read_mfcc(folder: Path | str) -> Clips:
    """All clips as sequences of 40 MFCCs, a frame every 23.2 ms, from us8k-mfcc.tar.xz in the data folder.

    The file has a byte q for each coefficient. Here the value is q / 255, so that the smallest coefficient of each clip
    is 0 and the largest is 1: the scale of the clip is not in the file.
    """
    path = Path(folder) / MFCC_FILE
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: {MFCC_ORIGIN} (README.md of the data folder)")
    with tarfile.open(path) as archive:
        content = {Path(member.name).name: archive.extractfile(member).read() for member in archive if member.isfile()}
    index = f"{path}, index.csv"
    if "index.csv" not in content:
        raise ValueError(f"{index}: must be in the archive")
    sequences, lengths, classes, folds, names = [], [], [], [], []
    columns = ("slice_file_name", "fold", "classID", "offset", "frames")
    for where, row in _rows(content["index.csv"].decode(), index, columns):
        fold, length = _integer(where, row, "fold", 1), _integer(where, row, "frames", 1)
        file = f"fold{fold}.u8"
        begin, size = _integer(where, row, "offset", 0), length * MFCC_CHANNELS
        if file not in content:
            raise ValueError(f"{where}: {file} must be in the archive")
        if begin + size > len(content[file]):
            available = len(content[file])
            raise ValueError(f"{where}: the clip must end in the {available} bytes of {file}, got {begin + size}")
        sequences.append(np.frombuffer(content[file], np.uint8, size, begin).reshape(length, MFCC_CHANNELS))
        lengths.append(length)
        classes.append(_class(where, row))
        folds.append(fold)
        names.append(Path(row["slice_file_name"]).stem)
    if not names:
        raise ValueError(f"{index}: must have a clip, got none")
    frames = np.zeros((len(names), max(lengths), MFCC_CHANNELS), np.float32)
    for clip, sequence in zip(frames, sequences):
        clip[: len(sequence)] = sequence
    count = f"{len(names)} clips of {len(set(folds))} folds"
    source = f"UrbanSound8K, {count}, 40 MFCC every 23.2 ms in bytes ({MFCC_FILE})"
    numbers = (torch.tensor(column) for column in (lengths, classes, folds))
    return Clips(torch.from_numpy(frames / 255), *numbers, names, source)


def read_mel(folder: Path | str, device: torch.device | str = "cpu", folds: Sequence[int] = MEL_FOLDS) -> Clips:
    """The clips of some folds as log mel spectrograms, 80 channels every 10 ms, from us8k/ in the data folder.

    The spectrograms are computed and kept on the device. One clip, fold10/26344-4-1-0.ogg, is left out. Fold 3 is there
    in part, so that it may be trained on and not tested on.
    """
    index = Path(folder) / MEL_INDEX
    if not index.is_file():
        raise FileNotFoundError(f"{index} is missing: {MEL_ORIGIN} (README.md of the data folder)")
    columns = ("filename", "slice_file_name", "fold", "classID", "samples")
    files, samples, classes, found, names = [], [], [], [], []
    for where, row in _rows(index.read_text(), str(index), columns):
        fold = _integer(where, row, "fold", 1)
        if fold in folds and row["filename"] != LEFT_OUT:
            files.append(index.parent / "audio" / row["filename"])
            samples.append(_integer(where, row, "samples", 1))
            classes.append(_class(where, row))
            found.append(fold)
            names.append(Path(row["slice_file_name"]).stem)
    for fold in folds:
        if fold not in found:
            raise ValueError(f"{index}: must have clips of fold {fold}, got none")
    lengths = torch.tensor([features.frame_count(count) for count in samples])
    frames = torch.zeros(len(names), int(lengths.max()), features.MEL_FILTERS, device=device)
    with ThreadPoolExecutor() as pool:
        for begin in range(0, len(files), BATCH):
            part = slice(begin, begin + BATCH)
            waveforms = list(pool.map(read_waveform, files[part], samples[part]))
            spectrograms = features.log_mel(torch.nn.utils.rnn.pad_sequence(waveforms, batch_first=True).to(device))
            frames[part, : spectrograms.shape[1]] = spectrograms
    listed = ", ".join(map(str, folds))
    source = f"UrbanSound8K, {len(names)} clips of folds {listed}, 80 log mel every 10 ms (us8k/audio)"
    clips = Clips(frames, lengths, torch.tensor(classes), torch.tensor(found), names, source).to(device)
    clips.frames.mul_(clips.inside()[..., None])
    return clips


def read_waveform(file: Path | str, samples: int | None = None) -> torch.Tensor:
    """The samples of an audio file of one channel at 16 kHz; if a count is given, the file must have so many."""
    import soundfile

    if not Path(file).is_file():
        raise FileNotFoundError(f"{file} is missing: {MEL_ORIGIN} (README.md of the data folder)")
    waveform, rate = soundfile.read(file, dtype="float32", always_2d=True)
    if rate != features.SAMPLE_RATE:
        raise ValueError(f"{file}: the sample rate must be {features.SAMPLE_RATE} Hz, got {rate}")
    if waveform.shape[1] != 1:
        raise ValueError(f"{file}: must have 1 channel, got {waveform.shape[1]}")
    if samples is not None and len(waveform) != samples:
        raise ValueError(f"{file}: must have the {samples} samples that {MEL_INDEX} says, got {len(waveform)}")
    return torch.from_numpy(waveform[:, 0].copy())


def prepared(clips: Clips, how: str) -> Clips:
    """The clips before the scaling of a training set, which `scaling` gives.

    "coefficient" leaves the frames as they are: `scaling` then subtracts the mean of each channel over the frames of
    the training folds and divides by its deviation. "clip" subtracts from each clip the mean of each channel over the
    clip's own frames: `scaling` then divides by the deviation of what is left over the frames of the training folds,
    and has nothing more to subtract, up to rounding.
    """
    if how not in NORMALISATIONS:
        raise ValueError(f"prepared: how must be one of {', '.join(NORMALISATIONS)}, got {how}")
    if how == "coefficient":
        return clips
    mean = clips.frames.sum(1, keepdim=True) / clips.lengths[:, None, None]
    return clips._replace(frames=(clips.frames - mean).mul_(clips.inside()[..., None]))


class FoldSums(NamedTuple):
    """Sums over the frames of each fold, in double precision."""

    #: The folds that there are, ascending.
    folds: torch.Tensor
    #: Frames of each fold.
    count: torch.Tensor
    #: (folds, channels)
    total: torch.Tensor
    #: (folds, channels), of squares.
    squares: torch.Tensor


def statistics(clips: Clips) -> FoldSums:
    """Sums from which `scaling` has the mean and the deviation over any folds without the clips."""
    folds = clips.folds.unique()
    members = (clips.folds == folds[:, None]).double()
    squares = torch.linalg.vector_norm(clips.frames, dim=1, dtype=torch.float64).square()
    return FoldSums(
        folds, members @ clips.lengths.double(), members @ clips.frames.sum(1, dtype=torch.float64), members @ squares
    )


def scaling(
    clips: Clips, train_folds: Iterable[int], sums: FoldSums | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Shift and scale of each channel, so that (x - shift) * scale has mean 0 and variance 1 over the training folds.

    Frames of other folds have no part in it, and neither have those after the end of a clip; the latter are no longer 0
    when they are scaled. A channel that is constant over the training folds has the scale 1. `sums` are the
    `statistics` of the clips, for a caller with many training sets.
    """
    sums = statistics(clips) if sums is None else sums
    chosen = sorted(set(train_folds))
    unknown = set(chosen) - set(sums.folds.tolist())
    if unknown or not chosen:
        raise ValueError(f"scaling: train_folds must be some of {sums.folds.tolist()}, got {chosen}")
    training = torch.isin(sums.folds, torch.tensor(chosen, device=sums.folds.device)).double()
    count = training @ sums.count
    mean, square = training @ sums.total / count, training @ sums.squares / count
    variance = square - mean.square()
    scale = torch.where(variance > 1e-12 * square, variance, 1).rsqrt()
    return mean.to(clips.frames.dtype), scale.to(clips.frames.dtype)


def _rows(text: str, file: str, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each row of a table with the place of its line, for messages."""
    table = csv.DictReader(io.StringIO(text), restval="")
    for column in columns:
        if column not in (table.fieldnames or ()):
            raise ValueError(f"{file}, line 1: must have a column {column}, got {', '.join(table.fieldnames or ())}")
    for row in table:
        yield f"{file}, line {table.line_num}", row


def _integer(where: str, row: dict[str, str], column: str, least: int) -> int:
    text = row[column]
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise ValueError(f"{where}: {column} must be a whole number and at least {least}, got '{text}'")
    return int(text)


def _class(where: str, row: dict[str, str]) -> int:
    number = _integer(where, row, "classID", 0)
    if number >= len(CLASSES):
        raise ValueError(f"{where}: classID must be below {len(CLASSES)}, got {number}")
    return number
