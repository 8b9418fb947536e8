"""What the extension asks the system for: nothing that could open a connection or start a program. How it is protected."""

import pathlib
import shutil
import subprocess
import sys

import pytest

from fenchel import _core

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import elf

FORBIDDEN = {"system", "popen", "execl", "execle", "execlp", "execv", "execve", "execvp", "fork", "vfork", "posix_spawn",
             "posix_spawnp", "dlopen", "socket", "connect", "getaddrinfo"}


def test_the_extension_can_neither_connect_nor_start_a_program():
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is not there")
    listing = subprocess.run([nm, "-D", "--undefined-only", _core.__file__], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
    assert "memcpy" in names
    assert not names & FORBIDDEN


@pytest.mark.parametrize("library", ["_core*.so", "torch/libfenchel_torch_ops*.so"])
def test_what_is_loaded_is_hardened(library):
    found = list(pathlib.Path(_core.__file__).parent.glob(library))
    missing = {path.name: elf.missing(path) for path in found}
    if None in missing.values():
        pytest.skip("readelf is not there")
    assert found and not any(missing.values()), missing
