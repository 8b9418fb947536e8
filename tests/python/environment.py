#!/usr/bin/env python3
"""The virtual environments of the Python tests, made once and then brought up to date.

environment.py make FOLDER PREFIX    makes them: the wheel is built, with the library installed under PREFIX, and
                                     installed in FOLDER/venv beside its test extra, and in FOLDER/numpy1 with the
                                     oldest NumPy that is supported
environment.py run FOLDER/VENV COMMAND...
                                     runs a command of such an environment, from an empty folder

Where packages cannot be had both end with status 77, which ctest counts as skipped, and say so in a line.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
TORCH = "torch==2.13.0"
OLDEST = ["numpy==1.26.*", "pytest", "hypothesis"]


def pip(environment, *arguments):
    command = [environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    return subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def required():
    """What the wheel needs to be built, to run and to be tested."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    named = [p for extra in extras.values() for p in extra if not p.startswith("fenchel[")]
    return project["build-system"]["requires"], project["project"]["dependencies"], named


def make(folder, prefix):
    build, run, test = required()
    newest, oldest = folder / "venv", folder / "numpy1"
    for environment, packages in ((newest, build + run + test + [TORCH]), (oldest, run + OLDEST)):
        (environment / "ready").unlink(missing_ok=True)
        if not (environment / "bin" / "python").exists():
            venv.create(environment, with_pip=True)
        done = pip(environment, "install", "--no-compile", *packages)
        if done.returncode:
            print(done.stderr)
            print("python: packages cannot be installed from PyPI, so the Python front end is not tested")
            return SKIPPED
    wheels = folder / "wheel"
    shutil.rmtree(wheels, ignore_errors=True)
    done = pip(newest, "wheel", ".", "--no-deps", "--no-build-isolation", "-w", wheels,
               "-C", f"cmake.define.FENCHEL_PREFIX={prefix}", "-C", f"build-dir={folder / 'build'}")
    print(done.stderr)
    for environment in (newest, oldest):
        if done.returncode == 0:
            done = pip(environment, "install", "--no-compile", "--no-deps", "--force-reinstall", *wheels.iterdir())
        if done.returncode:
            return done.returncode
        (environment / "ready").touch()
    return 0


def run(environment, *command):
    if not (environment / "ready").exists():
        print("python: there is no environment, see python.wheel")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([environment / "bin" / command[0], *command[1:]], cwd=folder).returncode


if __name__ == "__main__":
    task, path, *rest = sys.argv[1:]
    sys.exit({"make": make, "run": run}[task](pathlib.Path(path), *rest))
