"""Puts Rondo into this process: ``import rondo_mpi.auto`` before mpi4py, on all ranks.

What is loaded later finds Rondo's functions before those of the MPI library. The module ``MPI`` of mpi4py has found its
own already once it is imported, and programs that are linked with MPI have when they start: ``rondo run`` serves these.
"""

import ctypes
import os
import struct
import sys

from . import library


def _is_whole(path):
    """Is all of the file there? The table of sections comes last. To load it would end the process by a signal else."""
    with open(path, "rb") as file:
        header = file.read(64)
    if len(header) < 64 or header[:4] != b"\x7fELF":
        return False
    (offset,) = struct.unpack_from("<Q", header, 40)
    size, number = struct.unpack_from("<HH", header, 58)
    return offset + size * number <= os.path.getsize(path)


def _load():
    if hasattr(ctypes.CDLL(None), "rondo_version"):
        return None  # preloaded: a second one would stand in its way
    if "mpi4py.MPI" in sys.modules:
        return "mpi4py.MPI was imported before; import rondo_mpi.auto first"
    try:
        if not _is_whole(library()):
            return f"{library()} is damaged"
        ctypes.CDLL(library(), ctypes.RTLD_GLOBAL)
    except OSError as error:
        return error
    return None


_problem = _load()
if _problem is not None:
    print(f"rondo: the program runs without Rondo: {_problem}", file=sys.stderr)
