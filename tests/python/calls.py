"""Calls of mpi4py by name: calls.py WHAT. Every rank raises an exception if a result differs from the MPI standard."""

import array
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def ring():
    """Objects of growing size are passed in a ring, by pickle."""
    for length in (0, 1, 1000, 300_000):
        sent = {"from": rank, "data": b"x" * length}
        got = comm.sendrecv(sent, dest=(rank + 1) % size, source=(rank - 1) % size)
        assert got["from"] == (rank - 1) % size and len(got["data"]) == length


def pickle():
    """Collectives of objects."""
    assert comm.bcast([rank] * 3 if rank == 0 else None) == [0] * 3
    assert comm.allgather({"rank": rank}) == [{"rank": i} for i in range(size)]
    assert comm.allreduce((rank,)) == tuple(range(size))
    assert comm.alltoall([(rank, i) for i in range(size)]) == [(i, rank) for i in range(size)]
    assert comm.scatter([i * i for i in range(size)] if rank == 0 else None) == rank * rank
    assert comm.gather(str(rank)) == ([str(i) for i in range(size)] if rank == 0 else None)
    request = comm.isend("text", dest=(rank + 1) % size, tag=7)
    assert comm.irecv(source=(rank - 1) % size, tag=7).wait() == "text"
    request.wait()
    message = comm.mprobe() if comm.iprobe() else None
    assert message is None


def buffers():
    """Calls on memory, with counts, displacements and derived types."""
    out, into = array.array("d", [rank] * 4), array.array("d", [-1] * 4)
    comm.Sendrecv(out, dest=(rank + 1) % size, recvbuf=into, source=(rank - 1) % size)
    assert into == array.array("d", [(rank - 1) % size] * 4)
    comm.Allreduce(MPI.IN_PLACE, out, op=MPI.MAX)
    assert out[0] == size - 1
    counts = [i + 1 for i in range(size)]
    everything = array.array("i", [0] * sum(counts))
    comm.Allgatherv(array.array("i", [rank] * (rank + 1)), (everything, counts))
    assert list(everything) == [i for i in range(size) for _ in range(i + 1)]
    vector = MPI.INT.Create_vector(2, 1, 2).Commit()
    strided = array.array("i", [rank, -1, rank, -1])
    comm.Bcast([strided, 1, vector])
    assert list(strided) == [0, -1, 0, -1]
    assert vector.combiner == MPI.COMBINER_VECTOR
    vector.Free()
    buffer = MPI.Alloc_mem(1000 + MPI.BSEND_OVERHEAD)
    comm.Attach_buffer(buffer)
    comm.Bsend(array.array("b", [1] * 1000), dest=rank)
    data = array.array("b", [0] * 1000)
    comm.Recv(data, source=rank)
    comm.Flush_buffer()
    comm.Detach_buffer()
    assert sum(data) == 1000


def communicators():
    """Splitting, groups, grids, attributes, handles as integers."""
    half = comm.Split(rank % 2, -rank)
    assert half.allreduce(1) == (size + 1 - rank % 2) // 2
    assert MPI.Comm.fromint(half.toint()) == half
    grid = comm.Create_cart(MPI.Compute_dims(size, 2), periods=True)
    assert grid.Get_cart_rank(grid.coords) == grid.rank
    key = MPI.Comm.Create_keyval()
    half.Set_attr(key, "hung")
    assert half.Get_attr(key) == "hung"
    half.Free()
    grid.Free()


def absent():
    """Functions that are not supported raise an exception."""
    for call in (lambda: MPI.File.Open(comm, "nothing"), lambda: MPI.COMM_SELF.Spawn("nothing")):
        try:
            call()
        except (NotImplementedError, MPI.Exception):
            continue
        raise AssertionError("a function that is not supported has returned")


globals()[sys.argv[1]]()
comm.Barrier()
if rank == 0:
    print(sys.argv[1], "by", size)
