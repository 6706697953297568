"""Standard input is that of rank 0; others have an empty one."""

import ctypes
import sys

mpi = ctypes.CDLL("libmpi_abi.so.1")
COMM_WORLD = ctypes.c_void_p(0x101)
mpi.MPI_Init(None, None)
rank = ctypes.c_int()
mpi.MPI_Comm_rank(COMM_WORLD, ctypes.byref(rank))
# In their order.
for turn in range(2):
    if turn == rank.value:
        line = sys.stdin.readline()
        print("rank", turn, "has", "nothing" if line == "" else "a line", flush=True)
    mpi.MPI_Barrier(COMM_WORLD)
mpi.MPI_Finalize()
