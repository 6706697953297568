"""`sorrel bench programs`: runs MPI programs as distributions ship them, with ranks in one process and with the MPI they were built for, and
compares their answers, memory and times. It installs nothing: a program that is not there is left out.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

from . import machine

RUN_SECONDS_MAX = 300
SAMPLE_SECONDS = 0.05
# The folder of the inputs, in the sources or in an installed tree.
INPUTS = next(
    (folder for folder in (pathlib.Path(__file__).resolve().parents[2] / "bench/programs", pathlib.Path(__file__).resolve().parents[2] / "programs")
     if folder.is_dir()), pathlib.Path())  # fmt: skip


def match(pattern: str, index: int) -> Callable[[str], str]:
    """The first group of one of the matches, or nothing."""
    found = re.compile(pattern, re.MULTILINE)

    def answer(text: str) -> str:
        return " ".join(found.findall(text)[index].split()) if found.search(text) else ""

    return answer


def last_match(pattern: str) -> Callable[[str], str]:
    return match(pattern, -1)


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    title: str
    package: str  # Debian's
    executable: str
    arguments: tuple[str, ...]
    answer: Callable[[str], str]  # of the output and the files that the program has written
    peer: str = "openmpi"  # its own MPI
    ranks: tuple[int, ...] = (4, 64)
    setup: tuple[str, ...] = ()  # lines for a shell, in the folder of the run
    outputs: tuple[str, ...] = ()  # files with a part of the answer
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    peer_ranks: int = 4
    without_answer: bool = False  # prints times only
    needs: tuple[str, ...] = ()  # files and commands, if not the executable itself: a program of the sources is compiled in the folder of the run

    def is_there(self) -> bool:
        return all(shutil.which(name) is not None or os.path.exists(name) for name in self.needs or (self.executable,))


STEP = last_match(r"^ +(\d+ .*)\nLoop")
HPCC = (r"sed -e 's/^1000 .*Ns$/200 Ns/' -e 's/^80  *NBs/20 NBs/' -e 's/^1200 10000.*values of N/100 values of N/' "
        r"/usr/share/doc/hpcc/examples/_hpccinf.txt > hpccinf.txt")  # fmt: skip
GROMACS = ("cp {inputs}/water.top {inputs}/water.mdp .", "gmx_mpi solvate -cs spc216.gro -box 3 3 3 -p water.top -o conf.gro",
           "gmx_mpi grompp -f water.mdp -c conf.gro -p water.top -o topol.tpr")  # fmt: skip
LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
SCALAPACK = LIBRARIES + "scalapack/openmpi-tests/"
# The package's command is a script that calls mpirun.
EXAML = "/usr/lib/examl/bin/examl-sse3"
# A grid of 24 times 24 vertices in Scotch's format.
GRID = ("awk 'BEGIN { n = 24; print 0; print n * n, 4 * n * (n - 1); print 0, \"000\"; for (i = 0; i < n * n; ++i) { s = \"\"; k = 0; "
        "if (i >= n) { s = s \" \" i - n; ++k } if (i % n > 0) { s = s \" \" i - 1; ++k } "
        "if (i % n < n - 1) { s = s \" \" i + 1; ++k } if (i + n < n * n) { s = s \" \" i + n; ++k } print k s } }' > grid.grf")  # fmt: skip
PETSC4PY = ("/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/lib/python3/dist-packages"
            ":/usr/lib/slepcdir/slepc3.18/x86_64-linux-gnu-real/lib/python3/dist-packages")  # fmt: skip


def compiled(name: str, title: str, package: str, compiler: str, library: str, flags: str, pattern: str) -> Program:
    """A program of bench/programs over a library of the distribution, compiled with the distribution's MPI."""
    source = next(iter(INPUTS.glob(f"{name}.[cf]*")), pathlib.Path(name)).name
    return Program(name, title, package, f"./{name}", (), last_match(pattern), ranks=(4, 16),
                   setup=(f"{compiler} -O1 -w {{inputs}}/{source} -o {name} {flags}",), needs=(compiler, LIBRARIES + library))  # fmt: skip


PROGRAMS = (
    Program("lammps", "LAMMPS, Lennard-Jones liquid", "lammps", "lmp", ("-in", "{inputs}/lj.in"), STEP),
    Program("lammps-eam", "LAMMPS, EAM copper", "lammps, lammps-data", "lmp", ("-in", "{inputs}/cu-eam.in"), STEP,
            environment={"LAMMPS_POTENTIALS": "/usr/share/lammps/potentials"}),
    Program("lammps-pppm", "LAMMPS, PPPM", "lammps", "lmp", ("-in", "{inputs}/pppm.in"), STEP),
    Program("netpipe", "NetPIPE", "netpipe-openmpi", "NPopenmpi", ("-u", "65536", "-n", "5", "-o", "np.out"), last_match(r"(65536) bytes"),
            ranks=(2,), peer_ranks=2, without_answer=True),
    Program("netpipe-mpich", "NetPIPE, MPICH's", "netpipe-mpich2", "NPmpich2", ("-u", "65536", "-n", "5", "-o", "np.out"),
            last_match(r"(65536) bytes"), peer="mpich", ranks=(2,), peer_ranks=2, without_answer=True),
    Program("hpcc", "HPCC", "hpcc", "hpcc", (), last_match(r"^(Success=\d)"), setup=(HPCC, "rm -f hpccoutf.txt"), outputs=("hpccoutf.txt",),
            ranks=(4, 16)),
    Program("gromacs", "GROMACS, water with PME", "gromacs", "gmx_mpi",
            ("mdrun", "-ntomp", "1", "-reprod", "-pin", "off", "-s", "topol.tpr", "-g", "md.log"),
            match(r" Potential .*\n +\S+ +\S+ +\S+ +(\S+)", 0), setup=GROMACS, outputs=("md.log",), ranks=(4,)),
    Program("freefem", "FreeFem++, Laplace", "freefem++", "FreeFem++-mpi", ("-nw", "-v", "0", "{inputs}/poisson.edp"),
            last_match(r"^integral (\S+)"), ranks=(4, 16)),
    Program("meep", "Meep, dielectric ring", "meep-openmpi", "meep", ("{inputs}/ring.ctl",), last_match(r"^field: *(\S+, \S{16})"), ranks=(4, 16)),
    # With several ranks its answer depends on their speed.
    Program("iqtree", "IQ-TREE", "iqtree", "iqtree2-mpi", ("-s", "{inputs}/alignment.phy", "-m", "JC", "-nt", "1", "-seed", "1", "-redo", "-pre", "tree"),
            last_match(r"BEST SCORE FOUND : (\S+)"), ranks=(1,), peer_ranks=1),
    Program("mpi4py", "mpi4py, Debian's", "python3-mpi4py, python3-numpy", "/usr/bin/python3", ("{inputs}/mpi4.py",), last_match(r"^ok 1 .* (pi \S+)"),
            ranks=(4, 16)),
    Program("mumps", "MUMPS, example", "mumps-test", "sh", ("-c", "exec /usr/lib/mumps/dsimpletest < /usr/lib/mumps/input_simpletest_real"),
            last_match(r"Solution is +((?:\S+ *\n? *){5})"), ranks=(4,), needs=("/usr/lib/mumps/dsimpletest",)),
    Program("espresso", "Quantum ESPRESSO, silicon", "quantum-espresso, quantum-espresso-data", "pw.x", ("-in", "{inputs}/si.pwi"),
            last_match(r"^!.*= +(\S+) Ry"), ranks=(4, 16), environment={"ESPRESSO_PSEUDO": "/usr/share/espresso/pseudo"},
            needs=("pw.x", "/usr/share/espresso/pseudo/Si.pz-vbc.UPF")),
    Program("mpb", "MPB, square lattice of rods", "mpb-mpi", "mpb-mpi", ("{inputs}/rods.ctl",), last_match(r"^tmfreqs:, 3, (.*)"), ranks=(4, 16)),
    Program("form", "FORM, power of a sum", "form", "parform", ("{inputs}/powers.frm",), last_match(r"^   F =\n +(.*) -?\+? *18648736886616\*$"), ranks=(4, 16)),
    Program("lrs", "lrs, vertices of a cut cube", "mplrs", "mplrs", ("{inputs}/cube.ine", "vertices"), last_match(r"^\*Totals: (vertices=\d+ .*)"),
            ranks=(4, 16)),
    Program("petsc4py", "petsc4py and slepc4py, Laplace", "python3-petsc4py-real3.18, python3-slepc4py-real3.18", "/usr/bin/python3", ("{inputs}/petsc.py",),
            last_match(r"^((?:norm|eigenvalues) .*\n.*)"), ranks=(4, 16), environment={"PYTHONPATH": PETSC4PY}, needs=tuple(PETSC4PY.split(":"))),
    Program("h5py", "h5py, one file of all ranks", "python3-h5py-mpi", "/usr/bin/python3", ("{inputs}/h5par.py",), last_match(r"^(sum \S+ parallel True)"),
            ranks=(4, 16), needs=("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi",)),
    Program("puzzle", "TREE-PUZZLE, quartets", "tree-ppuzzle", "sh", ("-c", "exec tree-ppuzzle -randseed7 alignment.phy < answers"),
            last_match(r"log L: (\S+)"), ranks=(4, 16), outputs=("alignment.phy.puzzle",), needs=("tree-ppuzzle",),
            setup=("sed 's/^taxon.[^A-Z]/&   /' {inputs}/alignment.phy > alignment.phy", "echo y > answers")),
    Program("phyml", "PhyML, eight bootstraps", "phyml", "phyml-mpi",
            ("-i", "alignment.phy", "-d", "nt", "-m", "JC69", "-b", "8", "--r_seed", "1", "--no_memory_check"),
            last_match(r"Log likelihood of the current tree: (\S+?)\.?$"), ranks=(4,), setup=("cp {inputs}/alignment.phy .",)),
    Program("examl", "ExaML", "examl", EXAML, ("-s", "x.binary", "-t", "{inputs}/taxa.tre", "-m", "GAMMA", "-n", "out"),
            last_match(r"Likelihood *: (\S+)"), ranks=(4, 16), outputs=("ExaML_info.out",), peer_ranks=2,
            setup=("cp {inputs}/alignment.phy .", "parse-examl -s alignment.phy -m DNA -n x")),
    Program("elk", "Elk, aluminium", "elk-lapw", "elk-lapw", (), last_match(r"^ total energy +: +(\S+)"), ranks=(4, 16), outputs=("INFO.OUT",),
            setup=("cp {inputs}/aluminium.in elk.in",)),
    Program("nwchem", "NWChem, water", "nwchem-openmpi", "nwchem.openmpi", ("{inputs}/water.nw",), last_match(r"Total SCF energy = +(\S+)"),
            ranks=(4,), peer_ranks=2),
    Program("neuron", "NEURON, a cell on each rank", "neuron", "nrniv", ("-mpi", "{inputs}/neuron.hoc"), last_match(r"^(hosts .*)"), ranks=(4,)),
    Program("gretl", "gretl, a sum and a matrix", "gretl", "gretlmpi", ("-q", "{inputs}/sum.inp"), last_match(r"^(ranks .*)"), ranks=(4,)),
    Program("ptscotch", "PT-Scotch, a grid in four parts", "ptscotch", "dgpart", ("4", "grid.grf", "map", "-vm"), last_match(r"CommLoad\S*=(\S+)"),
            ranks=(4, 16), setup=(GRID,)),
    Program("scalapack", "ScaLAPACK's own tests of LU", "scalapack-mpi-test", SCALAPACK + "xdlu", (), last_match(r"(\d+) tests completed and passed"),
            ranks=(4, 16), setup=(f"cp {SCALAPACK}LU.dat .",)),
    Program("ruby", "ruby-mpi, messages to one rank", "ruby-mpi", "ruby", ("{inputs}/sum.rb",), last_match(r"^(sum .*)"), ranks=(4,),
            needs=("ruby", "/usr/lib/ruby/vendor_ruby/mpi.rb")),
    Program("rmpi", "Rmpi, a sum and a ring", "r-base-core, r-cran-rmpi", "Rscript", ("{inputs}/sum.R",), last_match(r"^(sum .*)"), ranks=(4,),
            needs=("Rscript", "/usr/lib/R/site-library/Rmpi")),
    compiled("scala", "ScaLAPACK, linear system", "libscalapack-openmpi-dev", "mpif90.openmpi", "libscalapack-openmpi.so",
             "-lscalapack-openmpi", r"^(info .*)"),
    compiled("fft", "FFTW, 2-D transform", "libfftw3-mpi-dev", "mpicc.openmpi", "libfftw3_mpi.so", "-lfftw3_mpi -lfftw3 -lm", r"^(sums .*)"),
    compiled("oct", "p4est, quadtree", "libp4est-dev", "mpicc.openmpi", "libp4est.so", "-lp4est -lsc", r"^(refined .*)"),
    compiled("amg", "hypre, BoomerAMG", "libhypre-dev", "mpicc.openmpi", "libHYPRE.so", "-I/usr/include/hypre -lHYPRE -lm", r"^(sum .*)"),
    Program("bagel", "BAGEL", "bagel", "BAGEL", ("{inputs}/bagel.json",), last_match(r"^ *10 +(-7\S+)"), peer="mpich", ranks=(4,)),
)  # fmt: skip
PARTS = tuple(program.name for program in PROGRAMS)
LAUNCHERS = {"openmpi": ("mpiexec.openmpi", "--oversubscribe", "--bind-to", "none"), "mpich": ("mpiexec.mpich",)}


@dataclasses.dataclass
class Run:
    ranks: int
    status: int
    answer: str
    seconds: float
    first_output_seconds: float | None
    megabytes: float
    processes: int


def children_of(process: int) -> list[int]:
    """The process and what it has started, in turn."""
    found = [process]
    for one in found:
        for task in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += [int(word) for word in task.read_text(encoding="ascii").split()]
    return found


def memory_of(processes: Sequence[int]) -> float:
    """Their proportional share of memory (PSS), in MB: a page that several have counts once."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError):
            found = re.search(r"^Pss: +(\d+) kB", pathlib.Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii"), re.MULTILINE)
            total += int(found[1]) if found else 0
    return total / 1024


def filled(words: Sequence[str]) -> list[str]:
    return [word.replace("{inputs}", str(INPUTS)) for word in words]


def run_once(program: Program, launcher: Sequence[str], ranks: int, folder: pathlib.Path) -> Run:
    """Runs the program and samples the memory of its processes. Output goes to a terminal, as for a user: it is written line by line."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | program.environment
    for line in filled(program.setup):
        subprocess.run(["sh", "-c", line], cwd=folder, env=environment, check=True, capture_output=True)
    master, slave = os.openpty()
    began = time.monotonic()
    words = [*launcher, "-n", str(ranks), program.executable, *filled(program.arguments)]
    job = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    os.set_blocking(master, False)
    text, first, megabytes, processes, status = b"", None, 0.0, 0, None
    while True:
        is_over = job.poll() is not None
        with contextlib.suppress(OSError):
            while part := os.read(master, 1 << 16):
                first = first or time.monotonic() - began
                text += part
        if is_over:
            break
        if time.monotonic() - began > RUN_SECONDS_MAX:
            os.killpg(job.pid, signal.SIGKILL)
        family = children_of(job.pid)
        megabytes, processes = max(megabytes, memory_of(family)), max(processes, len(family))
        time.sleep(SAMPLE_SECONDS)
    seconds, status = time.monotonic() - began, job.wait()
    os.close(master)
    output = text.decode(errors="replace").replace("\r", "")
    for name in program.outputs:
        if (folder / name).exists():
            output += (folder / name).read_text(encoding="utf-8", errors="replace")
    return Run(ranks, status, program.answer(output), seconds, first, megabytes, processes)


def verdict(program: Program, own: Run, peer: Run | None) -> str:
    """What the table says of the answer."""
    if own.status != 0:
        return f"fails, status {own.status}"
    if not own.answer:
        return "no answer"
    if program.without_answer:
        return "runs"
    if peer is None:
        return own.answer
    if peer.status != 0:
        return f"{own.answer}; its own MPI: status {peer.status}"
    return f"{own.answer}, the same" if own.answer == peer.answer else f"{own.answer}, not {peer.answer}"


def rows(program: Program, runs: Sequence[Run], peer: Run | None) -> list[str]:
    """Lines of the table in Markdown."""
    lines = []
    for run in runs:
        is_first = run is runs[0]
        beside = peer if peer is not None and run.ranks == peer.ranks else None
        first = "-" if run.first_output_seconds is None else f"{run.first_output_seconds:.2f}"
        own = "" if beside is None else f"{beside.megabytes:.0f}; {beside.seconds:.1f}"
        names = (program.title, program.package) if is_first else ("", "")
        cells = (*names, str(run.ranks), verdict(program, run, peer), first, f"{run.seconds:.1f}", f"{run.megabytes:.0f}", own)
        lines.append("|" + "".join(f" {cell} |" if cell else " |" for cell in cells))
    return lines


HEAD = ("| Program | Package | Ranks | Answer, beside its own MPI's | First output, s | All, s | Memory, MB | Its own MPI: MB; s |\n"
        "|---|---|---|---|---|---|---|---|")  # fmt: skip


def measure_program(command: str, program: Program, has_many: bool) -> tuple[list[Run], Run | None]:
    runs = []
    for ranks in program.ranks if has_many else program.ranks[:1]:
        with tempfile.TemporaryDirectory(prefix="sorrel-programs-") as folder:
            runs.append(run_once(program, (command, "run"), ranks, pathlib.Path(folder)))
    launcher = LAUNCHERS[program.peer]
    if shutil.which(launcher[0]) is None:
        return runs, None
    with tempfile.TemporaryDirectory(prefix="sorrel-programs-") as folder:
        return runs, run_once(program, launcher, program.peer_ranks, pathlib.Path(folder))


def main(arguments: argparse.Namespace) -> int:
    chosen = [program for program in PROGRAMS if not arguments.only or program.name in arguments.only]
    results, has_failed = [], False
    lines = [HEAD]
    print(HEAD, flush=True)
    for program in chosen:
        if not program.is_there():
            continue
        runs, peer = measure_program(arguments.command, program, not arguments.quick)
        has_failed = has_failed or any(run.status != 0 or not run.answer for run in runs)
        lines += rows(program, runs, peer)
        print("\n".join(lines[-len(runs):]), flush=True)
        results.append({"program": program.name, "runs": [dataclasses.asdict(run) for run in runs],
                        "own_mpi": None if peer is None else dataclasses.asdict(peer)})  # fmt: skip
    if missing := [f"{program.name} ({program.package})" for program in chosen if not program.is_there()]:
        print(f"\nNot installed: {', '.join(missing)}")
    if arguments.table is not None:
        arguments.table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({"machine": machine.describe(), "programs": results}, indent=1) + "\n", encoding="utf-8")
    return 1 if has_failed else 0
