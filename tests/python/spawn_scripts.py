"""Ranks that are spawned by the name of a script, whose first line names the interpreter."""

import os
import sys
import tempfile

from mpi4py import MPI

CHILD = """#!{interpreter}
import os, sys
from mpi4py import MPI
parent = MPI.Comm.Get_parent()
parent.send((MPI.COMM_WORLD.Get_rank(), os.path.basename(sys.argv[0]), sys.argv[1:], sys.flags.optimize, os.getcwd()), 0)
parent.Disconnect()
"""


def spawned(name, **info):
    """What two ranks of a script send."""
    hints = MPI.Info.Create(info)
    comm = MPI.COMM_SELF.Spawn(name, args=["a b", "c"], maxprocs=2, info=hints)
    answers = sorted(comm.recv(source=rank) for rank in range(2))
    comm.Disconnect()
    hints.Free()
    return answers


def main():
    began_in = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for name, interpreter in (("plain", sys.executable), ("flag", sys.executable + " -O"), ("other", "/bin/sh")):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(CHILD.format(interpreter=interpreter))
            os.chmod(path, 0o700)
        plain = [(rank, "plain", ["a b", "c"], 0, began_in) for rank in range(2)]
        assert spawned(folder + "/plain") == plain, "by its path"
        assert spawned("plain", path=folder) == plain, "in the folders of the info key path"
        there = [(*answer[:4], folder) for answer in plain]
        assert spawned("./plain", wdir=folder) == there, "from the working directory"
        assert [answer[3] for answer in spawned(folder + "/flag")] == [1, 1], "with the argument of the first line"
        for name in (folder + "/other", folder + "/none"):
            try:
                spawned(name)
                raise AssertionError(f"{name} was spawned")
            except MPI.Exception as error:
                assert error.Get_error_class() == MPI.ERR_SPAWN, error
    print("8 ranks of scripts")


main()
