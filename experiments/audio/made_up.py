"""Made-up clips: a class is a set of channels, or a tone, that is loud for a moment somewhere in noise.

They are for tests, which have no data folder: a model of sequences learns them in seconds.
"""

from __future__ import annotations

import csv
import io
import math
import tarfile
from pathlib import Path

import torch

from . import features
from .data import CLASSES, LEFT_OUT, MEL_FOLDS, MEL_INDEX, MFCC_CHANNELS, MFCC_FILE, Clips

CLASS_COUNT = 4
CLIPS_PER_CLASS_AND_FOLD = 4
BURST = 8
OFFICIAL = ("slice_file_name", "fsID", "start", "end", "salience", "fold", "classID", "class")


def clips(seed: int = 0, count: int = 200, folds: int = 4, channels: int = 12) -> Clips:
    """Clips of 30 to 60 frames of standard normal noise; classes and folds have equal shares.

    In 8 neighbouring frames at a random place every fourth channel, beginning with the number of the class, is higher
    by 2.
    """
    generator = torch.Generator().manual_seed(seed)
    number = torch.arange(count)
    classes, fold = number % CLASS_COUNT, 1 + number // CLASS_COUNT % folds
    lengths = torch.randint(30, 61, (count,), generator=generator)
    begin = (torch.rand(count, generator=generator) * (lengths - BURST + 1)).long()
    time = torch.arange(int(lengths.max()))
    burst = (time >= begin[:, None]) & (time < begin[:, None] + BURST)
    raised = torch.arange(channels) % CLASS_COUNT == classes[:, None]
    noise = torch.randn(count, len(time), channels, generator=generator)
    frames = noise + 2 * (burst[:, :, None] & raised[:, None, :])
    frames[time >= lengths[:, None]] = 0
    names = [f"{100000 + i}-{label}-0-0" for i, label in enumerate(classes.tolist())]
    return Clips(frames, lengths, classes, fold, names, f"made up, {count} clips of {folds} folds, seed {seed}")


def write_folder(folder: Path | str, seed: int = 0) -> None:
    """Write made-up files in the formats of the data folder: 4 clips of each of 4 classes in each fold.

    The MFCC sequences have all 10 folds, and the audio has folds 1, 2 and 10. The audio's index also has the clip that
    readers leave out, and the file of it is not there.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    _write_mfcc(Path(folder) / MFCC_FILE, seed)
    _write_audio(Path(folder) / MEL_INDEX, seed)


def _write_mfcc(path: Path, seed: int) -> None:
    made = clips(seed, 10 * CLASS_COUNT * CLIPS_PER_CLASS_AND_FOLD, folds=10, channels=MFCC_CHANNELS)
    content = {fold: bytearray() for fold in range(1, 11)}
    rows = []
    for frames, length, label, fold, name in zip(*made[:4], made.names):
        values = frames[:length]
        scaled = 255 * (values - values.min()) / (values.max() - values.min())
        rows.append([*_official(name, int(fold), int(label)), len(content[int(fold)]), int(length)])
        content[int(fold)] += scaled.round().byte().numpy().tobytes()
    files = {f"fold{fold}.u8": bytes(data) for fold, data in content.items()}
    files["index.csv"] = _table((*OFFICIAL, "offset", "frames"), rows).encode()
    with tarfile.open(path, "w:xz", preset=0) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"us8k-mfcc/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def _write_audio(index: Path, seed: int) -> None:
    import soundfile

    generator = torch.Generator().manual_seed(seed)
    rows = [[LEFT_OUT, *_official("26344-4-1-0", 10, 4), 1000, "meta"]]
    for fold in MEL_FOLDS:
        (index.parent / "audio" / f"fold{fold}").mkdir(parents=True, exist_ok=True)
        for number in range(CLASS_COUNT * CLIPS_PER_CLASS_AND_FOLD):
            label = number % CLASS_COUNT
            waveform = _tone_in_noise(500 * 2**label, generator)
            name = f"{100000 + 100 * fold + number}-{label}-0-0"
            file = f"fold{fold}/{name}.ogg"
            soundfile.write(
                index.parent / "audio" / file, waveform.numpy(), features.SAMPLE_RATE, format="OGG", subtype="VORBIS"
            )
            rows.append([file, *_official(name, fold, label), len(waveform), "full"])
    index.write_text(_table(("filename", *OFFICIAL, "samples", "length_from"), rows))


def _tone_in_noise(frequency: float, generator: torch.Generator) -> torch.Tensor:
    """From .3 to .6 s of quiet noise with a tone of .1 s at a random place."""
    samples = int(torch.randint(4800, 9601, (), generator=generator))
    begin = int(torch.randint(0, samples - 1600 + 1, (), generator=generator))
    waveform = 0.01 * torch.randn(samples, generator=generator)
    time = torch.arange(1600) / features.SAMPLE_RATE
    waveform[begin : begin + 1600] += 0.3 * torch.sin(2 * math.pi * frequency * time)
    return waveform


def _official(name: str, fold: int, label: int) -> list[str | int | float]:
    """The columns of the index that UrbanSound8K has."""
    return [f"{name}.wav", name.partition("-")[0], 0.0, 4.0, 1, fold, label, CLASSES[label]]


def _table(columns: tuple[str, ...], rows: list[list[str | int | float]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()
