"""Puts Rondo into this process: ``import rondo_mpi.auto`` before mpi4py, on all ranks.

What is loaded later finds Rondo's functions before those of the MPI library. The module ``MPI`` of mpi4py has found its
own already once it is imported, and programs that are linked with MPI have when they start: ``rondo run`` serves these.
"""

import ctypes
import sys

from . import library


def _load():
    if "mpi4py.MPI" in sys.modules:
        return "mpi4py.MPI was imported before; import rondo_mpi.auto first"
    try:
        ctypes.CDLL(library(), ctypes.RTLD_GLOBAL)
    except OSError as error:
        return error
    return None


_problem = _load()
if _problem is not None:
    print(f"rondo: the program runs without Rondo: {_problem}", file=sys.stderr)
