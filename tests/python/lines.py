"""Ends badly in a call of MPI, by the C library alone: lines.py WHAT."""

import ctypes
import sys

mpi = ctypes.CDLL("libmpi_abi.so.1")
COMM_WORLD = ctypes.c_void_p(0x101)


def rank_of():
    rank = ctypes.c_int()
    mpi.MPI_Comm_rank(COMM_WORLD, ctypes.byref(rank))
    return rank.value


def give_up():
    mpi.MPI_Abort(COMM_WORLD, 5)


def wait_for_the_other():
    mpi.MPI_Probe(1 - rank_of(), 7, COMM_WORLD, None)


mpi.MPI_Init(None, None)
{"abort": give_up, "deadlock": wait_for_the_other}[sys.argv[1]]()
