"""The readers on a made-up data folder, their messages, and the normalisation of training folds."""

import tarfile

import numpy as np
import pytest
import torch

from experiments.audio import data, features, made_up

soundfile = pytest.importorskip("soundfile")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    made_up.write_folder(path)
    return path


@pytest.fixture
def own_folder(tmp_path):
    """One that a test may damage."""
    made_up.write_folder(tmp_path)
    return tmp_path


def frames_of(clips, chosen):
    """All frames of the chosen clips below each other, in double precision."""
    return torch.cat([clips.frames[i, : clips.lengths[i]] for i in chosen.nonzero()[:, 0].tolist()]).double()


def assert_laid_out(clips, count, channels):
    assert clips.frames.shape == (count, int(clips.lengths.max()), channels)
    assert clips.frames.dtype == torch.float32
    for column in (clips.lengths, clips.classes, clips.folds):
        assert column.shape == (count,) and column.dtype == torch.int64
    assert len(set(clips.names)) == count
    assert (clips.frames[~clips.inside()] == 0).all()
    assert [int(name.split("-")[1]) for name in clips.names] == clips.classes.tolist()


def test_mfcc_are_those_that_were_written(folder):
    clips, made = data.read_mfcc(folder), made_up.clips(0, 160, folds=10, channels=40)
    assert_laid_out(clips, 160, 40)
    assert clips.names == made.names
    assert torch.equal(clips.lengths, made.lengths) and torch.equal(clips.folds, made.folds)
    for i in range(160):
        expected, read = made.frames[i, : made.lengths[i]], clips.frames[i, : clips.lengths[i]]
        expected = (expected - expected.min()) / (expected.max() - expected.min())
        assert (read - expected).abs().max() < 0.51 / 255
    assert clips.source == "UrbanSound8K, 160 clips of 10 folds, 40 MFCC every 23.2 ms in bytes (us8k-mfcc.tar.xz)"


def test_mel_are_those_of_each_file_alone(folder):
    clips = data.read_mel(folder)
    assert_laid_out(clips, 48, 80)
    assert clips.folds.unique().tolist() == [1, 2, 10]
    for i in (0, 17, 47):
        waveform, _ = soundfile.read(folder / f"us8k/audio/fold{clips.folds[i]}/{clips.names[i]}.ogg", dtype="float32")
        expected = features.log_mel(torch.from_numpy(waveform))
        assert clips.lengths[i] == len(waveform) // 160 + 1
        torch.testing.assert_close(clips.frames[i, : clips.lengths[i]], expected)
        loudest = expected.max(0).values.argmax()
        frequency = 700 * (10 ** ((loudest + 1) * features.hertz_to_mel(8000) / 81 / 2595) - 1)
        assert abs(frequency / (500 * 2 ** clips.classes[i]) - 1) < 0.05


def test_mel_does_not_depend_on_the_batch(folder, monkeypatch):
    together = data.read_mel(folder)
    monkeypatch.setattr(data, "BATCH", 7)
    torch.testing.assert_close(data.read_mel(folder).frames, together.frames)


def test_mel_of_chosen_folds(folder):
    clips = data.read_mel(folder, folds=(2, 10))
    assert clips.folds.unique().tolist() == [2, 10]
    assert clips.source == "UrbanSound8K, 32 clips of folds 2, 10, 80 log mel every 10 ms (us8k/audio)"
    with pytest.raises(ValueError, match=r"meta\.csv: must have clips of fold 3, got none"):
        data.read_mel(folder, folds=(1, 3))


def test_the_clip_that_is_left_out_is_in_the_index(folder):
    assert data.LEFT_OUT in (folder / data.MEL_INDEX).read_text()
    assert "26344-4-1-0" not in data.read_mel(folder).names


@pytest.mark.parametrize("read, file, origin", [
    (data.read_mfcc, "us8k-mfcc.tar.xz", "github.com/StevenTsengBBK/MScProject"),
    (data.read_mel, "us8k/meta.csv", "github.com/Alejandro-131004/AC-II"),
])
def test_what_is_missing_is_said(tmp_path, read, file, origin):
    with pytest.raises(FileNotFoundError) as error:
        read(tmp_path / "nowhere")
    assert str(error.value).startswith(f"{tmp_path / 'nowhere' / file} is missing: ")
    assert origin in str(error.value)


def test_a_missing_audio_file_is_named(own_folder):
    file = own_folder / "us8k/audio/fold2/100203-3-0-0.ogg"
    file.unlink()
    with pytest.raises(FileNotFoundError, match="fold2/100203-3-0-0.ogg is missing: audio of folds"):
        data.read_mel(own_folder)


@pytest.mark.parametrize("line, column, entry, message", [
    (1, "samples", "size", "line 1: must have a column samples, got filename, "),
    (3, "fold", "one", "line 3: fold must be a whole number and at least 1, got 'one'"),
    (3, "classID", "12", "line 3: classID must be below 10, got 12"),
    (4, "samples", "17", "fold1/100101-1-0-0.ogg: must have the 17 samples that us8k/meta.csv says, got "),
    (5, "samples", "-3", "line 5: samples must be a whole number and at least 1, got '-3'"),
])
def test_a_malformed_index_of_audio_is_named_with_its_line(own_folder, line, column, entry, message):
    index = own_folder / "us8k/meta.csv"
    table = [row.split(",") for row in index.read_text().splitlines()]
    table[line - 1][table[0].index(column)] = entry
    index.write_text("\n".join(",".join(row) for row in table))
    with pytest.raises(ValueError) as error:
        data.read_mel(own_folder)
    assert message in str(error.value)


@pytest.mark.parametrize("waveform, rate, message", [
    (np.zeros(4000), 8000, "the sample rate must be 16000 Hz, got 8000"),
    (np.zeros((4000, 2)), 16000, "must have 1 channel, got 2"),
])
def test_audio_of_another_kind_is_refused(tmp_path, waveform, rate, message):
    soundfile.write(tmp_path / "clip.wav", waveform, rate)
    with pytest.raises(ValueError, match=message):
        data.read_waveform(tmp_path / "clip.wav")


def rewritten(path, change):
    """The archive with its files passed through a function of a dictionary."""
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}
    change(files)
    folder = path.parent / "unpacked"
    with tarfile.open(path, "w:xz", preset=0) as archive:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
            archive.add(folder / name, name)


def cut_a_fold(files):
    files["us8k-mfcc/fold10.u8"] = files["us8k-mfcc/fold10.u8"][:-1]


def spoil_a_length(files):
    lines = files["us8k-mfcc/index.csv"].decode().splitlines()
    lines[6] = lines[6].rpartition(",")[0] + ",2.5"
    files["us8k-mfcc/index.csv"] = "\n".join(lines).encode()


@pytest.mark.parametrize("change, message", [
    (cut_a_fold, r"index\.csv, line 161: the clip must end in the \d+ bytes of fold10.u8, got \d+"),
    (spoil_a_length, r"index\.csv, line 7: frames must be a whole number and at least 1, got '2\.5'"),
    (lambda files: files.pop("us8k-mfcc/fold3.u8"), r"index\.csv, line 10: fold3\.u8 must be in the archive"),
    (lambda files: files.pop("us8k-mfcc/index.csv"), r"index\.csv: must be in the archive"),
])
def test_a_malformed_archive_is_named_with_its_line(own_folder, change, message):
    rewritten(own_folder / "us8k-mfcc.tar.xz", change)
    with pytest.raises(ValueError, match=message):
        data.read_mfcc(own_folder)


@pytest.mark.parametrize("how", data.NORMALISATIONS)
def test_scaled_training_frames_have_mean_0_and_variance_1(how):
    clips = made_up.clips()
    clips = clips._replace(frames=(3 * clips.frames + 5) * clips.inside()[..., None])
    ready = data.prepared(clips, how)
    shift, scale = data.scaling(ready, (1, 2, 4))
    assert shift.shape == scale.shape == (12,) and shift.dtype == torch.float32
    scaled = (frames_of(ready, clips.folds != 3) - shift) * scale
    torch.testing.assert_close(scaled.mean(0), torch.zeros(12, dtype=torch.float64), rtol=0, atol=1e-5)
    torch.testing.assert_close(scaled.var(0, correction=0), torch.ones(12, dtype=torch.float64), rtol=1e-5, atol=0)


@pytest.mark.parametrize("how", data.NORMALISATIONS)
def test_the_test_fold_and_the_padding_have_no_part_in_it(how):
    clips = made_up.clips()
    expected = data.scaling(data.prepared(clips, how), (1, 2, 4))
    other = clips.frames.clone()
    other[clips.folds == 3] *= 100
    longer = torch.cat([other, torch.zeros(200, 9, 12)], 1)
    torch.testing.assert_close(data.scaling(data.prepared(clips._replace(frames=longer), how), (1, 2, 4)), expected)
    changed = data.scaling(data.prepared(clips._replace(frames=longer), how), (1, 2, 3, 4))
    assert (changed[1] < expected[1] / 10).all()


def test_each_clip_has_mean_0_after_its_own_mean_was_subtracted():
    clips = made_up.clips()
    ready = data.prepared(clips, "clip")
    for i in (0, 99):
        own = clips.frames[i, : clips.lengths[i]]
        torch.testing.assert_close(ready.frames[i, : clips.lengths[i]], own - own.mean(0))
    assert (ready.frames[~clips.inside()] == 0).all()
    assert data.prepared(clips, "coefficient") is clips


def test_sums_over_folds_are_taken_once():
    clips = made_up.clips()
    sums = data.statistics(clips)
    for i, fold in enumerate(sums.folds.tolist()):
        frames = frames_of(clips, clips.folds == fold)
        assert sums.count[i] == len(frames)
        torch.testing.assert_close(sums.total[i], frames.sum(0))
        torch.testing.assert_close(sums.squares[i], frames.square().sum(0))
    for given, own in zip(data.scaling(clips, (2, 3), sums), data.scaling(clips, (2, 3))):
        assert torch.equal(given, own)


def test_a_constant_channel_has_scale_1():
    clips = made_up.clips()
    frames = clips.frames.clone()
    frames[..., 4] = 0.1 * clips.inside()
    shift, scale = data.scaling(clips._replace(frames=frames), (1, 2))
    assert scale[4] == 1 and abs(shift[4] - 0.1) < 1e-7


def test_wrong_arguments_are_refused():
    clips = made_up.clips()
    with pytest.raises(ValueError, match="prepared: how must be one of coefficient, clip, got frame"):
        data.prepared(clips, "frame")
    with pytest.raises(ValueError, match=r"scaling: train_folds must be some of \[1, 2, 3, 4\], got \[2, 7\]"):
        data.scaling(clips, (7, 2))
    with pytest.raises(ValueError, match=r"got \[\]"):
        data.scaling(clips, ())


def test_made_up_clips_are_the_same_for_a_seed():
    again, other = made_up.clips(3), made_up.clips(4)
    assert torch.equal(made_up.clips(3).frames, again.frames)
    assert not torch.equal(again.frames[:, :30], other.frames[:, :30])
    assert_laid_out(again, 200, 12)
    assert again.lengths.min() >= 30 and again.lengths.max() <= 60
    assert torch.bincount(again.classes).tolist() == [50] * 4
