"""Which module of mpi4py's wheel is used, and whose MPI it finds: wheel.py MODULE."""

import sys

from mpi4py import MPI

assert f"MPI.{sys.argv[1]}." in MPI.__file__, MPI.__file__
assert "Sorrel" in MPI.Get_library_version(), MPI.Get_library_version()
# Counts beyond an int, arrays of handles, and the names of predefined objects.
assert MPI.COMM_WORLD.name == "MPI_COMM_WORLD"
structure = MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.INT, MPI.DOUBLE]).Commit()
assert structure.Get_size() == 20
assert structure.Get_contents()[3] == [MPI.INT, MPI.DOUBLE]
structure.Free()
total = MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank)
if MPI.COMM_WORLD.rank == 0:
    print(sys.argv[1], "adds up to", total)
