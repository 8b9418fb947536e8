#!/usr/bin/env python3
"""The program of docs/cuda.md: `document.py write FILE` writes it, `document.py run PROGRAM` runs what was compiled of
it and compares what it prints with the page."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from blocks import split  # noqa: E402


def documented():
    blocks, _ = split((ROOT / "docs" / "cuda.md").read_text())
    ((program, printed),) = [(b, after) for b, after in zip(blocks, blocks[1:]) if b.language == "cuda"]
    return program.text, printed.text


def main(task, path):
    program, said = documented()
    if task == "write":
        pathlib.Path(path).write_text(program)
        return 0
    printed = subprocess.run([path], stdout=subprocess.PIPE, text=True, check=True).stdout
    if printed != said:
        print(f"docs/cuda.md says\n{said}and the program prints\n{printed}")
    return printed != said


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
