"""Which C++ files the checks look at."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu"}


def cpp_files(root):
    """The C++ files under root that git tracks or would add, as sorted paths relative to root."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    paths = {pathlib.PurePosixPath(name) for name in listing.split("\0") if name}
    found = sorted(path for path in paths if path.suffix in SUFFIXES and (root / path).exists())
    if not found:
        raise SystemExit(f"{root}: no C++ files")
    return found
