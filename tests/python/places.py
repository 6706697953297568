"""Calls MPI at places that are marked by comments: places.py WHAT."""

import ctypes
import sys

from mpi4py import MPI  # imported

comm = MPI.COMM_WORLD


def pass_on():
    for _ in range(5):
        assert comm.sendrecv(comm.rank, (comm.rank + 1) % comm.size) in range(comm.size)  # passed


def meet():
    comm.Barrier()  # met


def calls():
    pass_on()
    meet()


def leak():
    return comm.Dup()  # leaked


def order():
    """Members of a communicator call different collectives."""
    if comm.rank == 0:
        comm.allgather(0)  # first
    else:
        comm.bcast(0)  # second


def crash():
    comm.Barrier()
    if comm.rank == 1:
        ctypes.CDLL(None).strlen(None)  # crashed
    comm.Barrier()


globals()[sys.argv[1]]()
comm.Barrier()  # ended
