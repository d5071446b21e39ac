"""Rondo in a wheel: the library for every MPI, the tool, and the header.

``rondo run mpiexec -n 4 python app.py`` starts a program with Rondo in its ranks. A program that begins with
``import rondo_mpi.auto`` takes Rondo by itself.
"""

import ctypes
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def library():
    """The path of librondo.so, to be preloaded."""
    return os.path.join(_HERE, "lib", "rondo", "librondo.so")


def include():
    """The folder of rondo.h."""
    return os.path.join(_HERE, "include")


def calls(collective, algorithm=None):
    """Calls of a collective, such as "bcast", that Rondo carried out on this rank: by the algorithm of this name, by
    any of Rondo's (None), or passed to the MPI library ("host"). 0 for names that are not known, and if Rondo is not
    in this process."""
    function = getattr(ctypes.CDLL(None), "rondo_calls", None)
    if function is None:
        return 0
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    function.restype = ctypes.c_ulonglong
    return function(collective.encode(), None if algorithm is None else algorithm.encode())


# The tools, and as what the loader finds the MPI library that each is for.
_TOOLS = {"rondo": ["libmpi.so.40"], "rondo-mpich": ["libmpich.so.12", "libmpi.so.12"]}


def _is_found(library):
    """Does the loader find this library?"""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _tool(words):
    """The tool for these words. One that is started as an MPI program, as ``rondo bench`` is, must be that of its
    launcher's MPI."""
    is_openmpi = "OMPI_COMM_WORLD_SIZE" in os.environ
    is_pmi = "PMI_RANK" in os.environ and not is_openmpi
    usual = "rondo-mpich" if is_pmi else "rondo"
    # Slurm sets PMI_RANK for any MPI; the other variable is of Hydra, which starts MPICH and Intel MPI.
    is_sure = is_openmpi or (is_pmi and "MPI_LOCALNRANKS" in os.environ)
    if is_sure or words[:1] not in (["bench"], ["tune"]):
        return usual
    found = [tool for tool, libraries in _TOOLS.items() if any(map(_is_found, libraries))]
    return found[0] if len(found) == 1 else usual


def _start(tool):
    path = os.path.join(_HERE, "bin", tool)
    try:
        os.execv(path, ["rondo", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"rondo: {path}: {error.strerror}")


def main():
    """The tool, for the MPI that this process is of, as far as that is known."""
    _start(_tool(sys.argv[1:]))


def openmpi():
    """The tool for Open MPI."""
    _start("rondo")


def mpich():
    """The tool for MPICH and Intel MPI."""
    _start("rondo-mpich")
