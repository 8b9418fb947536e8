"""What the extension asks the system for: nothing that could open a connection or start a program."""

import shutil
import subprocess

import pytest

from fenchel import _core

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
