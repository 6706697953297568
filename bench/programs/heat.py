# heat.py [SIDE] [STEPS] - Jacobi's method on a square, cut into strips, with numpy and mpi4py; prints the sum of the values.
import sys

import numpy
from mpi4py import MPI

side = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 400
comm = MPI.COMM_WORLD
up = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
down = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
rows = side * (comm.rank + 1) // comm.size - side * comm.rank // comm.size
old = numpy.zeros((rows + 2, side + 2))
if up == MPI.PROC_NULL:
    old[0, :] = 1.0
new = old.copy()
for step in range(steps):
    comm.Sendrecv(old[1], up, 0, old[-1], down, 0)
    comm.Sendrecv(old[-2], down, 0, old[0], up, 0)
    new[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
    old, new = new, old
total = comm.allreduce(float(old[1:-1, 1:-1].sum()))
if comm.rank == 0:
    print(f"heat {total:.9f}")
