"""MPICH's test suite: its sources, their configuration, and its programs, each built when it is first wanted.

Upstream's own makefiles build the programs, one by one, so that one that does not link does not stop the others. The sources are
those of a release, where `configure` exists: Debian's source package, or a folder that the user names.
"""
import fcntl
import glob
import os
import re
import shutil
import tarfile

from process import run_bounded, shortened
from testlist import read_testlist

CHAPTERS = ("attr basic coll comm datatype errhan errors group info init io mpi_t part pt2pt rma session spawn threads topo "
            "cxx f77 f90 f08").split()
CONFIGURE_LIMIT_S = 1800
BUILD_LIMIT_S = 600
# What MPICH's own configure passes to that of its tests: the Fortran kinds of MPI_Offset and MPI_Aint.
CONFIGURE_ENVIRONMENT = {"F77_MPI_OFFSET": "integer*8", "F77_MPI_ADDRESS": "integer*8"}
CONFIGURE_OPTIONS = ("--enable-strictmpi", "--disable-cxx", "--enable-fortran=all", "--disable-dependency-tracking")
COMPILERS = {"CC": "mpicc", "MPICC": "mpicc", "F77": "mpif77", "MPIF77": "mpif77", "FC": "mpifort", "MPIFC": "mpifort"}


# Wrappers of other MPIs do not pass the option that GCC needs for calls of one procedure with arguments of several types.
FORTRAN_FLAGS = ("FFLAGS=-fallow-argument-mismatch", "FCFLAGS=-fallow-argument-mismatch")
# Open MPI's header declares the functions that MPI-3.0 has removed, which its library has, only if asked to. The suite's harness uses them.
C_FLAGS = {"openmpi": ("CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0",)}


class SetupError(Exception):
    """A suite that cannot be prepared; the text says why."""


def fetch_package(cache):
    """Unpacks Debian's source package of MPICH below the cache, and returns its folder."""
    target = os.path.join(cache, "mpich-source")
    if os.path.exists(os.path.join(target, "test/mpi/configure")):
        return target
    downloads = os.path.join(cache, "downloads")
    os.makedirs(downloads, exist_ok=True)
    if not glob.glob(os.path.join(downloads, "mpich_*.orig.tar.*")):
        done = run_bounded(["apt-get", "source", "--download-only", "mpich"], limit_s=600, cwd=downloads)
        if done.status or done.timed_out:
            raise SetupError("'apt-get source mpich' failed; name a folder with MPICH's sources by --mpich\n" + shortened(done.text))
    archive = glob.glob(os.path.join(downloads, "mpich_*.orig.tar.*"))[0]
    unfinished = target + ".unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            member.name = member.name.partition("/")[2]
            if member.name.startswith(("test/", "confdb/")):
                tar.extract(member, unfinished)
    os.rename(unfinished, target)
    return target


class Suite:
    """The suite, configured for the compilers mpicc, mpif77 and mpifort that PATH finds, or for those of another MPI (mpicc.mpich)."""

    name = "mpich"

    def __init__(self, cache, folder=None, compilers=""):
        root = os.path.abspath(folder) if folder else fetch_package(cache)
        self.source = os.path.join(root, "test/mpi")
        ending = "." + compilers if compilers else ""
        self.build = os.path.join(cache, "mpich-build" + ending)
        self._compilers = [f"{name}={command}{ending}" for name, command in COMPILERS.items()]
        self._compilers += (*FORTRAN_FLAGS, *C_FLAGS.get(compilers, ())) if compilers else ()
        if not os.path.exists(os.path.join(self.source, "configure")):
            raise SetupError(f"{self.source}/configure does not exist: this is not a release of MPICH")
        self._refused = {}

    @property
    def version(self):
        """The version of the sources, as its configure prints it."""
        with open(os.path.join(self.source, "configure"), encoding="utf-8", errors="replace") as file:
            found = re.search(r"^PACKAGE_VERSION='(.*)'", file.read(), re.M)
        return found[1] if found else "unknown"

    def prepare(self):
        """Configures the suite and builds its harness, once."""
        stamp = os.path.join(self.build, ".prepared")
        if os.path.exists(stamp):
            return
        os.makedirs(self.build, exist_ok=True)
        env = dict(os.environ, **CONFIGURE_ENVIRONMENT)
        commands = [([os.path.join(self.source, "configure"), *CONFIGURE_OPTIONS, *self._compilers], self.build),
                    (["make"], os.path.join(self.build, "dtpools")), (["make"], os.path.join(self.build, "util"))]
        for command, cwd in commands:
            done = run_bounded(command, limit_s=CONFIGURE_LIMIT_S, cwd=cwd, env=env)
            if done.status:
                raise SetupError(f"{command[0]} failed in {cwd}\n" + shortened(done.text))
        with open(stamp, "w", encoding="utf-8"):
            pass

    def entries(self, chapters):
        for chapter in chapters:
            yield from read_testlist(self.source, self.build, chapter)

    def folder_of(self, entry):
        """Where a program runs: some read files that configure has put beside them."""
        return os.path.join(self.build, entry.folder)

    def program(self, entry):
        """(path, '') of the program, built if it was not; ('', what the compiler printed) if it cannot be built."""
        path = os.path.join(self.folder_of(entry), entry.program)
        if os.path.exists(path):
            return path, ""
        with open(os.path.join(self.build, ".lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # upstream's makefiles build shared objects in each folder
            if path not in self._refused and not os.path.exists(path):
                done = run_bounded(["make", entry.program], limit_s=BUILD_LIMIT_S, cwd=self.folder_of(entry))
                self._copy_data(entry)
                if done.status or done.timed_out or not os.path.exists(path):
                    self._refused[path] = shortened(done.text)
        return ("", self._refused[path]) if path in self._refused else (path, "")

    def _copy_data(self, entry):
        """Files without an ending that a program opens in its folder."""
        for name in ("coords",):
            source = os.path.join(self.source, entry.folder, name)
            if os.path.exists(source):
                shutil.copy(source, self.folder_of(entry))


MISSING = re.compile(r"undefined reference to [`'](p?mpi_\w+?)_?(?:f08)?'|[`‘'](p?mpi_\w+)[’'] undeclared"
                     r"|implicit declaration of function [`‘'](p?mpi_\w+)|Symbol [`‘'](p?mpi_\w+)[’'] referenced", re.I)


def functions_missing(text):
    """The MPI functions that a linker did not find, or a compiler did not know, in lower case."""
    return sorted({next(filter(None, names)).lower() for names in MISSING.findall(text)})
