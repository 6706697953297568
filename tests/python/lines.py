"""Shows its lines in a report, by the C library alone: lines.py WHAT [FILE]."""

import ctypes
import os
import sys
import threading
import time

mpi = ctypes.CDLL("libmpi_abi.so.1")
COMM_WORLD, INT = (ctypes.c_void_p(value) for value in (0x101, 0x209))


def rank_of():
    rank = ctypes.c_int()
    mpi.MPI_Comm_rank(COMM_WORLD, ctypes.byref(rank))
    return rank.value


def give_up():
    mpi.MPI_Abort(COMM_WORLD, 5)


def send_to_nobody():
    mpi.MPI_Send(None, 0, INT, 77, 0, COMM_WORLD)


def wait_as_first():
    mpi.MPI_Probe(1, 7, COMM_WORLD, None)


def wait_as_second():
    mpi.MPI_Probe(0, 7, COMM_WORLD, None)


def wait_for_the_other():
    """Each rank waits in a function of its own."""
    (wait_as_first if rank_of() == 0 else wait_as_second)()


def wait_beside_a_thread():
    """The rank's main thread waits, and a thread that it has started does something else."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    wait_for_the_other()


def größe():
    mpi.MPI_Probe(1 - rank_of(), 7, COMM_WORLD, None)


def sleep_until(path):
    print("ready", flush=True)
    while not os.path.exists(path):
        time.sleep(0.2)


def look_for():
    """Rank 0 sleeps, and others wait for it, until a file exists."""
    if rank_of() == 0:
        sleep_until(sys.argv[2])
    mpi.MPI_Barrier(COMM_WORLD)
    mpi.MPI_Finalize()


level = 3 if sys.argv[1] == "thread" else 0
mpi.MPI_Init_thread(None, None, level, ctypes.byref(ctypes.c_int()))
{
    "abort": give_up,
    "error": send_to_nobody,
    "deadlock": wait_for_the_other,
    "thread": wait_beside_a_thread,
    "letters": größe,
    "stack": look_for,
}[sys.argv[1]]()
