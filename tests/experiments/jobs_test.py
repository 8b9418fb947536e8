"""Several processes: results as they end, failures by name, interrupts, and nobody left."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from experiments.jobs import outcomes

ROOT = pathlib.Path(__file__).resolve().parents[2]


def square(number):
    return number * number, os.getpid()


def fail_at_three(number):
    if number == 3:
        raise ValueError("three")
    return number


def end_at_three(number):
    if number == 3:
        os._exit(7)
    return number


def alive(pid):
    """Whether there is such a process that has not ended: one that nobody waited for is a zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def test_each_job_has_its_result_and_no_process_is_left():
    found = list(outcomes(square, range(8), 2))
    assert sorted((job, result[0]) for job, result in found) == [(n, n * n) for n in range(8)]
    pids = {result[1] for _, result in found}
    assert len(pids) <= 2 and os.getpid() not in pids and not any(map(alive, pids))


def test_a_failure_names_its_job_after_those_that_ended(capfd):
    found = outcomes(fail_at_three, [1, 2, 3, 4, 5, 6], 1)
    assert [next(found), next(found)] == [(1, 1), (2, 2)]
    with pytest.raises(ChildProcessError, match="^3: ValueError: three$"):
        next(found)
    assert "in fail_at_three" in capfd.readouterr().err


def test_a_process_that_ends_names_its_job():
    with pytest.raises(ChildProcessError, match="^3: the process ended with 7$"):
        list(outcomes(end_at_three, [1, 2, 3, 4], 2))


def test_an_iterator_that_is_closed_leaves_no_process():
    found = outcomes(square, range(8), 2)
    _, (_, pid) = next(found)
    found.close()
    assert not alive(pid)


@pytest.fixture
def program(tmp_path):
    """A program with two processes that work for an hour, in a process group of its own."""
    (tmp_path / "long_work.py").write_text(
        textwrap.dedent("""
        import os, pathlib, sys, time

        def work(folder):
            pathlib.Path(folder, str(os.getpid())).touch()
            time.sleep(3600)

        if __name__ == "__main__":
            from experiments.jobs import outcomes
            list(outcomes(work, [sys.argv[1]] * 2, 2))
        """)
    )
    pids = tmp_path / "pids"
    pids.mkdir()
    started = subprocess.Popen(
        [sys.executable, str(tmp_path / "long_work.py"), str(pids)],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert until(lambda: len(list(pids.iterdir())) == 2)
    yield started, [int(path.name) for path in pids.iterdir()]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.communicate()


def test_an_interrupt_of_all_ends_them(program):
    """A terminal sends it to the processes too: they leave it to their parent."""
    started, pids = program
    for pid in pids:
        os.kill(pid, signal.SIGINT)
    assert not until(lambda: not all(map(alive, pids)), seconds=0.5)
    os.killpg(started.pid, signal.SIGINT)
    errors = started.communicate(timeout=20)[1]
    assert started.returncode == -signal.SIGINT and not any(map(alive, pids))
    assert errors.count("Traceback") == 1


def test_none_outlives_a_parent_that_is_killed(program):
    started, pids = program
    started.kill()
    assert until(lambda: not any(map(alive, pids)))
