"""What a program or a shared library says of itself to the loader."""
import re
import subprocess

PROTECTIONS = {
    "is loaded anywhere": r"Elf file type is DYN",
    "tables that become read-only": r"GNU_RELRO",
    "names that are bound at the start": r"\bBIND_NOW\b",
    "a stack that is not executed": r"GNU_STACK .* RW +0x",
    "a stack that is checked": r" __stack_chk_fail\b",
}


def missing(path):
    """Which of the protections a file does not have; None where there is no readelf."""
    try:
        said = subprocess.run(["readelf", "-lWd", "--dyn-syms", path], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        return None
    return [name for name, pattern in PROTECTIONS.items() if not re.search(pattern, said)]
