"""Which files the checks look at."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP_SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu"}


def files(root, suffixes, kind):
    """The files under root with such a suffix that git tracks or would add, as sorted paths relative to root."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    paths = {pathlib.PurePosixPath(name) for name in listing.split("\0") if name}
    found = sorted(path for path in paths if path.suffix in suffixes and (root / path).exists())
    if not found:
        raise SystemExit(f"{root}: no {kind} files")
    return found


def cpp_files(root):
    return files(root, CPP_SUFFIXES, "C++")


def markdown_files(root):
    return files(root, {".md"}, "Markdown")
