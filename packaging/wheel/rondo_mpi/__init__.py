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
    any of Rondo's (None), or passed to the MPI library ("host"). 0 if Rondo is not in this process."""
    function = getattr(ctypes.CDLL(None), "rondo_calls", None)
    if function is None:
        return 0
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    function.restype = ctypes.c_ulonglong
    return function(collective.encode(), algorithm and algorithm.encode())


def main():
    """The tool. One that is started as an MPI program, as ``rondo bench`` is, must be that of its launcher's MPI."""
    openmpi = "OMPI_COMM_WORLD_SIZE" in os.environ
    name = "rondo-mpich" if "PMI_RANK" in os.environ and not openmpi else "rondo"
    tool = os.path.join(_HERE, "bin", name)
    try:
        os.execv(tool, ["rondo", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"rondo: {tool}: {error.strerror}")
