"""Which files the checks look at."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP_SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu"}


def all_files(root):
    """The files under root that git tracks or would add, as sorted paths relative to root."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    paths = {pathlib.PurePosixPath(name) for name in listing.split("\0") if name}
    return sorted(path for path in paths if (root / path).is_file())


def text_files(root):
    """Pairs of path and text of all files that are not binary."""
    for path in all_files(root):
        content = (root / path).read_bytes()
        if b"\0" not in content:
            yield path, content.decode("utf-8", "replace")


def files(root, suffixes, kind):
    """Those of all files that have such a suffix."""
    found = [path for path in all_files(root) if path.suffix in suffixes]
    if not found:
        raise SystemExit(f"{root}: no {kind} files")
    return found


def cpp_files(root):
    return files(root, CPP_SUFFIXES, "C++")


def markdown_files(root):
    return files(root, {".md"}, "Markdown")
