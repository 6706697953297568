"""The MPIs of this machine: how to compile and start a program with each of them."""

import dataclasses
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable

DEBIAN_PACKAGES = ("mpich", "openmpi-bin", "libopenmpi-dev")


@dataclasses.dataclass(frozen=True)
class Job:
    program: str
    arguments: tuple[str, ...]
    ranks: int
    workers: int


@dataclasses.dataclass(frozen=True)
class Implementation:
    name: str
    version: str
    compiler: tuple[str, ...]
    launch: Callable[[Job], list[str]]
    # Ranks are threads of one process: many ranks per core are useful.
    has_light_ranks: bool = False
    is_sorrel: bool = False
    # Compiler flags for programs whose ranks write to global variables.
    private_globals: tuple[str, ...] = ()


def _output(*command: str) -> str:
    # In a temporary folder: ampicc leaves files in the current one.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60
        )
    return done.stdout + done.stderr


def _version_in(text: str) -> str:
    found = re.search(r"\b(\d+(\.\d+)+\S*)", text)
    return found[1].rstrip(",") if found else ""


def sorrel(command: str) -> Implementation:
    def launch(job: Job) -> list[str]:
        workers = ["--workers", str(min(job.workers, job.ranks))]
        return [command, "run", *workers, "-n", str(job.ranks), job.program, *job.arguments]

    version = _version_in(_output(command, "--version"))
    return Implementation("Sorrel", version, (command, "cc"), launch, has_light_ranks=True, is_sorrel=True)


# Programs of these compilers, run by Sorrel: compiler -> name.
TRANSLATED = {"mpicc.openmpi": "Sorrel, program of Open MPI", "mpicc.mpich": "Sorrel, program of MPICH"}


def translated(command: str) -> list[Implementation]:
    """Sorrel with programs that the installed compilers of other MPIs have built."""
    own = sorrel(command)
    return [
        dataclasses.replace(own, name=name, compiler=(compiler,), is_sorrel=False)
        for compiler, name in TRANSLATED.items()
        if shutil.which(compiler) is not None
    ]


def _mpich(name: str, compiler: str, launcher: str, version: str) -> Implementation:
    def launch(job: Job) -> list[str]:
        binding = ["-bind-to", "core"] if job.ranks <= job.workers else []
        return [launcher, *binding, "-n", str(job.ranks), job.program, *job.arguments]

    return Implementation(name, version, (compiler,), launch)


def _open_mpi(name: str, compiler: str, launcher: str, version: str) -> Implementation:
    def launch(job: Job) -> list[str]:
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        # Binding needs a core for each rank; without it Open MPI leaves placement to the system.
        placing = ["--bind-to", "core"] if job.ranks <= job.workers else ["--oversubscribe"]
        return [launcher, *as_root, *placing, "-n", str(job.ranks), job.program, *job.arguments]

    return Implementation(name, version, (compiler,), launch)


def ampi(folder: str | None) -> Implementation | None:
    """Adaptive MPI: ampicc of `folder` (its root or its bin), or of PATH."""
    places = [f"{folder}/bin", folder] if folder else None
    search_path = os.pathsep.join(places) if places else None
    compiler = shutil.which("ampicc", path=search_path)
    if compiler is None:
        return None

    def launch(job: Job) -> list[str]:
        pinning = ["+setcpuaffinity"] if job.workers > 1 else []
        counts = [f"+p{min(job.workers, job.ranks)}", f"+vp{job.ranks}"]
        return [job.program, *job.arguments, *counts, "++quiet", *pinning]

    told = re.search(r"Version (\d+)(\d\d)(\d\d)\b", _output(compiler, "-V"))
    version = ".".join(str(int(part)) for part in told.groups()) if told else ""
    return Implementation(
        "AMPI", version, (compiler,), launch, has_light_ranks=True, private_globals=("-pieglobals",)
    )


def _from_pair(compiler: str, launcher: str) -> Implementation | None:
    """The MPI of a compiler wrapper and the launcher beside it; None for an unknown one."""
    told = _output(launcher, "--version")
    if "Open MPI" in told or "OpenRTE" in told:
        return _open_mpi("Open MPI", compiler, launcher, _version_in(told))
    if "HYDRA" in told or "MPICH" in told:
        return _mpich("MPICH", compiler, launcher, _version_in(told))
    return None


def _candidate_pairs() -> list[tuple[str, str]]:
    """Wrapper and launcher: Debian's two by their own names, then `mpicc` of PATH."""
    # Real names of folders: Open MPI derives its installation from the path by which it was started, and /bin is a
    # link.
    folders = list(dict.fromkeys(os.path.realpath(folder) for folder in os.get_exec_path()))
    pairs = []
    for suffix in (".openmpi", ".mpich", ""):
        for folder in folders:
            compiler, launcher = (f"{folder}/{name}{suffix}" for name in ("mpicc", "mpiexec"))
            if os.access(compiler, os.X_OK) and os.access(launcher, os.X_OK):
                pairs.append((compiler, launcher))
    return pairs


def installed_peers(sorrel_command: str, ampi_folder: str | None) -> list[Implementation]:
    """Every MPI found except Sorrel, each file once."""
    known = {os.path.realpath(sorrel_command)}
    peers: list[Implementation] = []
    for compiler, launcher in _candidate_pairs():
        # Several names of one wrapper are one MPI.
        identity = os.path.realpath(compiler)
        if identity in known:
            continue
        known.add(identity)
        peer = _from_pair(compiler, launcher)
        if peer is None:
            continue
        if any(peer.name == other.name for other in peers):
            peer = dataclasses.replace(peer, name=f"{peer.name} {compiler}")
        peers.append(peer)
    if (found := ampi(ampi_folder)) is not None:
        peers.insert(0, found)
    return peers


def install_peers() -> str:
    """Installs Debian's MPIs. Returns an error, or nothing."""
    if shutil.which("apt-get") is None:
        return "--peers needs apt-get; install MPICH and Open MPI by hand"
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    if as_root and shutil.which("sudo") is None:
        return f"--peers needs root or sudo; run as root: apt-get install {' '.join(DEBIAN_PACKAGES)}"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = [*as_root, "apt-get", "-q", "install", "-y", "--no-install-recommends", *DEBIAN_PACKAGES]
    if subprocess.run(install, env=environment, check=False).returncode == 0:
        return ""
    subprocess.run([*as_root, "apt-get", "-q", "update"], env=environment, check=False)
    if subprocess.run(install, env=environment, check=False).returncode == 0:
        return ""
    return f"apt-get could not install {' '.join(DEBIAN_PACKAGES)}"
