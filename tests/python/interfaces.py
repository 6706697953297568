"""An interpreter has libraries of every binary interface of MPI, over one MPI: a message that is sent by one is received by another.
The variable MODULE names a library that has an RPATH to another MPI.
"""

import ctypes
import os

mpich = ctypes.CDLL("libmpi.so.12")
debian = ctypes.CDLL("libmpich.so.12")
openmpi = ctypes.CDLL("libmpi.so.40")
standard = ctypes.CDLL("libmpi_abi.so.1")

# MPI_COMM_WORLD, MPI_INT and MPI_STATUS_IGNORE of each.
values = {
    mpich: (ctypes.c_int(0x44000000), ctypes.c_int(0x4C000405), ctypes.c_void_p(1)),
    debian: (ctypes.c_int(0x44000000), ctypes.c_int(0x4C000405), ctypes.c_void_p(1)),
    openmpi: (ctypes.addressof(ctypes.c_char.in_dll(openmpi, "ompi_mpi_comm_world")),
              ctypes.addressof(ctypes.c_char.in_dll(openmpi, "ompi_mpi_int")), None),
    standard: (0x101, 0x209, None),
}
values[openmpi] = tuple(ctypes.c_void_p(value) for value in values[openmpi])
values[standard] = tuple(ctypes.c_void_p(value) for value in values[standard])


def number(library, call):
    result = ctypes.c_int(-1)
    assert call(values[library][0], ctypes.byref(result)) == 0
    return result.value


assert mpich.MPI_Init(None, None) == 0
ranks = {number(library, library.MPI_Comm_rank) for library in values}
sizes = {number(library, library.MPI_Comm_size) for library in values}
assert len(ranks) == len(sizes) == 1, (ranks, sizes)
(rank,), (size,) = ranks, sizes
libraries = list(values)
for tag, sender in enumerate(libraries):
    receiver = libraries[tag - 1]
    comm, kind, _ = values[sender]
    sent = ctypes.c_int(100 * rank + tag)
    got = ctypes.c_int(-1)
    if rank == 0:
        assert sender.MPI_Send(ctypes.byref(sent), 1, kind, size - 1, tag, comm) == 0
    if rank == size - 1:
        comm, kind, ignored = values[receiver]
        assert receiver.MPI_Recv(ctypes.byref(got), 1, kind, 0, tag, comm, ignored) == 0
        assert got.value == tag, (got.value, tag)
found = ctypes.CDLL(os.environ["MODULE"]).world_size()
assert found == size, (found, size)
standard.MPI_Finalize()
if rank == 0:
    print("one MPI for", size)
