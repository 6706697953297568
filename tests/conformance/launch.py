"""The launches in which programs run: how `sorrel run`, or the launcher of another MPI, starts so many ranks."""
import dataclasses
import os
import shlex

MPICH = "mpiexec.hydra"
# Cores are shared by all entries, so no process is bound to one.
OPENMPI = "mpirun.openmpi --oversubscribe --bind-to none"

# {n} is the number of ranks; {two} is 2, or 1 where there is one rank.
SORREL = {
    "one": ("one process", "sorrel run -n {n}"),
    "procs": ("two processes", "sorrel run --procs {two} -n {n}"),
    "host": ("under MPICH", MPICH + " -n {two} sorrel run -n {n}"),
    "openmpi": ("under Open MPI", OPENMPI + " -n {two} sorrel run -n {n}"),
    "mpich-built": ("built with MPICH", "sorrel run -n {n}"),
    "openmpi-built": ("built with Open MPI", "sorrel run -n {n}"),
    "mpich-itself": ("MPICH's own library", MPICH + " -n {n}"),
    "openmpi-itself": ("Open MPI's own library", OPENMPI + " -n {n}"),
    "nodes": ("two simulated nodes", "sorrel run --wire nodes={two},latency=20us -n {n}"),
}
BASELINE = "baseline"
# Launches of programs that another MPI's compilers have built: the ending of the compilers' names (mpicc.mpich).
COMPILERS = {"mpich-built": "mpich", "openmpi-built": "openmpi", "mpich-itself": "mpich", "openmpi-itself": "openmpi"}
# Open MPI refuses to start as root without these; they change nothing else.
OPENMPI_AS_ROOT = {name + suffix: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT") for suffix in ("", "_CONFIRM")}


@dataclasses.dataclass(frozen=True)
class Launch:
    """A way to start ranks. `library_path` replaces the MPI library of programs that are linked with Sorrel's. `compilers`: of
    another MPI, by the ending of their names."""

    name: str
    title: str
    template: str
    library_path: str = ""
    compilers: str = ""

    def command(self, ranks, program, arguments):
        words = shlex.split(self.template.format(n=ranks, two=min(2, ranks)))
        return [*words, program, *arguments]

    def environment(self, base, additions=()):
        """`base` with the "NAME=value" pairs of an entry."""
        env = dict(base)
        if self.name in ("openmpi", "openmpi-itself"):
            env.update(OPENMPI_AS_ROOT)
        if self.library_path:
            env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [self.library_path, env.get("LD_LIBRARY_PATH", "")]))
        for pair in additions:
            name, _, value = pair.partition("=")
            env[name] = value
        return env


def find_launch(name, baseline=None):
    """The launch of this name. `baseline` is the folder of an installed MPI of the standard ABI: bin/mpiexec, lib/libmpi_abi.so.1.

    Raises KeyError for a name that is none, and ValueError for a baseline without a folder.
    """
    if name == BASELINE:
        if not baseline:
            raise ValueError("the launch 'baseline' needs --baseline FOLDER")
        folder = os.path.abspath(baseline)
        return Launch(name, "MPICH's library", shlex.quote(os.path.join(folder, "bin/mpiexec")) + " -n {n}", os.path.join(folder, "lib"))
    title, template = SORREL[name]
    return Launch(name, title, template, compilers=COMPILERS.get(name, ""))
