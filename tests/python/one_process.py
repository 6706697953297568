"""Interpreters as ranks of one process, by MPI's C functions alone: one_process.py WHAT. Every rank ends with an exception if it is not right."""

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time

mpi = ctypes.CDLL("libmpi_abi.so.1")
COMM_WORLD, INT = (ctypes.c_void_p(value) for value in (0x101, 0x209))


def number(call):
    result = ctypes.c_int(-1)
    assert call(COMM_WORLD, ctypes.byref(result)) == 0
    return result.value


mpi.MPI_Init_thread(None, None, 3, ctypes.byref(ctypes.c_int()))
rank, size = number(mpi.MPI_Comm_rank), number(mpi.MPI_Comm_size)


def gather(value):
    values = (ctypes.c_int * size)()
    assert mpi.MPI_Allgather(ctypes.byref(ctypes.c_int(value)), 1, INT, values, 1, INT, COMM_WORLD) == 0
    return list(values)


def own():
    """The interpreter is the rank's own, and knows its environment."""
    # The first function that is missing has a message, too.
    assert not hasattr(ctypes.CDLL("libm.so.6"), "no_such_function")
    assert set(gather(os.getpid())) == {os.getpid()}
    assert len(set(gather(id(sys.modules) >> 8 & 0x7FFFFFFF))) == size or size == 1
    assert os.path.samefile(sys.executable, os.environ["EXECUTABLE"]), sys.executable
    wanted = subprocess.run([os.environ["EXECUTABLE"], "-c", "import sys; print(sys.prefix, sys.path[1:], sys.flags, sys.version)"],
                            check=True, capture_output=True, text=True).stdout.strip()
    assert wanted == f"{sys.prefix} {sys.path[1:]} {sys.flags} {sys.version}", wanted
    os.environ["MINE"] = str(rank)
    sys.setrecursionlimit(1000 + rank)
    gather(0)
    assert os.environ["MINE"] == str(rank) and sys.getrecursionlimit() == 1000 + rank
    assert subprocess.run([sys.executable, "-c", "import os; print(os.environ['MINE'])"], check=True, capture_output=True, text=True).stdout == f"{rank}\n"


def lines():
    """Whole lines by every way of writing them."""
    for i in range(100):
        print("rank", rank, "prints", i)
        sys.stdout.flush()
        sys.stdout.buffer.write(b"rank %d writes " % rank)
        sys.stdout.flush()
        sys.stdout.buffer.write(b"%d\n" % i)
        sys.stdout.flush()
        os.write(1, b"rank %d " % rank)
        os.write(1, b"calls %d\n" % i)
        thread = threading.Thread(target=lambda i=i: print("rank", rank, "threads", i, flush=True))
        thread.start()
        thread.join()
    sys.stderr.write("\rrank %d begins" % rank)
    sys.stderr.write("\rrank %d is done\n" % rank)
    print("rank", rank, "ends", end="")


def alarm():
    """An alarm comes although a thread has been started, and the working directory is the rank's."""
    threading.Thread(target=int).start()
    hits = []
    signal.signal(signal.SIGALRM, lambda *_: hits.append(rank))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    end = time.monotonic() + 90
    while not hits and time.monotonic() < end:
        time.sleep(0.01)
    assert hits == [rank], hits
    os.chdir("/tmp" if rank % 2 else "/")
    gather(0)
    assert os.getcwd() == ("/tmp" if rank % 2 else "/")


def crash():
    """The module faulthandler writes the lines of the rank that crashes."""
    faulthandler.enable()
    gather(0)
    if rank == 1:
        ctypes.string_at(0)
    gather(0)


globals()[sys.argv[1]]()
mpi.MPI_Finalize()
if rank == 0 and sys.argv[1] != "lines":
    print(sys.argv[1], "by", size)
