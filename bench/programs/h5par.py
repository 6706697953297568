"""Each rank writes its rows of one dataset through MPI-IO; rank 0 reads all of them (h5py)."""

import h5py
import numpy
from mpi4py import MPI

ROWS = 64
comm = MPI.COMM_WORLD
first, last = ROWS * comm.rank // comm.size, ROWS * (comm.rank + 1) // comm.size
with h5py.File("par.h5", "w", driver="mpio", comm=comm) as file:
    rows = file.create_dataset("rows", (ROWS, 100), dtype="f8")
    rows[first:last] = numpy.arange(first * 100, last * 100).reshape(-1, 100)
comm.Barrier()
if comm.rank == 0:
    with h5py.File("par.h5", "r") as file:
        print("sum", file["rows"][...].sum(), "parallel", h5py.get_config().mpi)
