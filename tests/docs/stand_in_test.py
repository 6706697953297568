"""That stand_in.py accepts what the manual says, and nothing with a mistake in it."""
import contextlib
import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import stand_in

SOURCES = pathlib.Path(__file__).resolve().parents[2]
HELP = """Usage: sorrel plan [options] EXTENT

Options:
  -h,--help           Print this and exit
  -n,--ranks N        Number of ranks; also written -np
  --json              Print JSON
  --shared LIB[,LIB] ...
                      Libraries
  --plot FILE
                      Draw
"""


class StandIn(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        (folder / "bin").mkdir()
        (folder / "page").mkdir()
        (folder / "bin" / "sorrel").write_text(f"#!/bin/sh\n[ $1 != paln ] || exit 2\ncat <<'EOT'\n{HELP}EOT\n")
        (folder / "bin" / "sorrel").chmod(0o755)
        for entry in ("packaging", "CMakePresets.json", "tests", "bench"):
            (folder / "page" / entry).symlink_to(SOURCES / entry)
        patch = mock.patch.dict(os.environ, {"DOCS_SOURCES": str(SOURCES), "DOCS_PREFIX": str(folder), "DOCS_COMMANDS": "/none", "DOCS_PYTHON": "python3"})
        patch.start()
        self.addCleanup(patch.stop)
        before = os.getcwd()
        os.chdir(folder / "page")
        self.addCleanup(os.chdir, before)

    def accepts(self, line: str) -> bool:
        command, *words = line.split()
        patches = [mock.patch("argparse.ArgumentParser." + name, getattr(stand_in.argparse.ArgumentParser, name)) for name in ("parse_args", "parse_intermixed_args")]
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()), contextlib.ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            try:
                stand_in.find(command)(words)
            except stand_in.Wrong:
                return False
            except SystemExit as end:
                return not end.code
        return True

    def check(self, right: list[str], wrong: list[str]) -> None:
        for line in right:
            self.assertTrue(self.accepts(line), line)
        for line in wrong:
            self.assertFalse(self.accepts(line), line)

    def test_dev(self):
        self.check(["./dev demo", "./dev install there", "./dev test --hosts -L lint", "./dev lint --fix", "./dev stress --minutes 60 --seed 7",
                    "./dev bench --peers", "./dev bench studies --quick", "./dev asan", "./dev emulate --cpus 8 --nodes 2 ls -l"],
                   ["./dev dmeo", "./dev install", "./dev test --host", "./dev test -L lnit", "./dev lint --fxi", "./dev stress --minuets 60",
                    "./dev stress --part kils", "./dev bench studeis", "./dev docs now", "./dev emulate --cpu 8 ls",
                    "./dev emulate --cpus ls", "./dev emulate --cpus 8"])

    def test_sorrel(self):
        self.check(["sorrel plan 256 -n 32 --json", "sorrel plan --ranks=3", "sorrel run -np 4 --shared a.so ./heat --steps 3"],
                   ["sorrel", "sorrel paln 256", "sorrel plan --jsno", "sorrel plan --plot", "sorrel run -n 4", "sorrel run --label ./heat"])

    def test_bench(self):
        self.check(["build/release/bin/sorrel bench list", "sorrel bench mpi --ampi DIR --json mpi.json", "sorrel bench virtual --only cg --rounds 9"],
                   ["sorrel bench mpi --apmi DIR", "sorrel bench virtual --only gc", "sorrel bench partition --resume", "sorrel bench mpi --rounds many"])
        self.assertTrue(pathlib.Path("DIR").is_dir())

    def test_built_programs(self):
        self.check(["build/dev/bin/test_core --gtest_filter=*Mailbox*", "build/release/bin/bench_match --benchmark_filter=reversed --benchmark_repetitions=10",
                    "build/dev/bin/fuzz_options --count 10 corpus"],
                   ["build/dev/bin/test_croe", "build/dev/bin/test_core --gtest_filter=*Mialbox*", "build/release/bin/bench_match --benchmark_filter=revresed",
                    "build/dev/bin/fuzz_option x", "build/dev/bin/test_core --verbose"])

    def test_scripts(self):
        self.check(["bash tests/install/built_wheel.sh . /tmp", "bash tests/install/clean_root.sh deb build/deb . page.md",
                    "python3 tests/docs/run_blocks.py page.md prefix .", "python3 bench/trace_costs.py --without sorrel",
                    "python3 tests/fuzz/fuzz.py options --build build/dev --seed 7 --only 42", "python3 tests/trace/click_report.py page.html",
                    "bash tests/host/network.sh openmpi 2 sorrel 1000 -n 8 round_trip"],
                   ["bash tests/install/build_wheel.sh .", "bash tests/install/clean_root.sh dbe build/deb .", "bash tests/install/clean_root.sh deb build/deb",
                    "python3 tests/docs/run_blocks.py page.md", "python3 bench/trace_costs.py --wihtout sorrel", "python3 tests/fuzz/fuzz.py opitons --build build/dev",
                    "python3 tests/trace/click_report.py", "bash tests/host/network.sh openmpi 2"])

    def test_cmake(self):
        self.check(["cmake --preset release -B build/without -DSORREL_EVENTS=OFF", "cmake --build build/without --target sorrel mpi_abi", "cmake --build --preset package",
                    "cmake --workflow --preset deb", "cmake --install build/package --prefix .."],
                   ["cmake --preset relaese", "cmake --preset base", "cmake --preset release -DSORREL_EVENT=OFF", "cmake --build build/whitout", "cmake --build --preset demo",
                    "cmake --workflow --preset package", "cmake --install build/package --prefix none", "cmake --build build/release --target sorel"])
        self.assertTrue(pathlib.Path("build/package/bin/sorrel").exists())

    def test_ctest(self):
        self.check(["ctest --preset dev -N", "ctest --preset dev -L ^host$"], ["ctest -N", "ctest --preset study", "ctest --preset dev -L hsot", "ctest --preset dev -n"])

    def test_packages(self):
        self.check(["sudo true", "apt-get install -y g++ cmake", "apt-get install ./build/deb/sorrel_*.deb", "python3 -m venv env", "python3 -m build --wheel",
                    "env/bin/pip install dist/sorrel_mpi-0.2.0-py3-none-linux_x86_64.whl", "pip install build", "./dev release there"],
                   ["sudo false", "apt-get install", "apt-get instal g++", "apt-get install g+", "apt-get install ./build/sorrel.deb", "python3 -m bulid --wheel",
                    "pip install dist/sorrel-0.2.0.whl", "pip install no-such-thing", "./dev release"])
        self.assertTrue(pathlib.Path("env/bin/sorrel").exists())

    def test_a_package_of_sources(self):
        self.check(["apt-get source hdf5"], ["apt-get source", "apt-get source HDF5?"])
        os.chdir("hdf5-0")
        self.check(["./configure --prefix=there --enable-parallel CC=sh", "make -j4", "make install"],
                   ["./configure --enable-parallel", "./configure --prefix=there --enable-paralel", "./configure --prefix=there CC=no-such-compiler", "make instal"])
        self.assertTrue(pathlib.Path("there").is_dir() and os.access("configure", os.X_OK))
        with mock.patch.dict(os.environ, {"HDF5_DIR": "nowhere"}):
            self.assertFalse(self.accepts("pip install build"))

    def test_the_administrator(self):
        self.check(["install -d -m 1777 /dev/shm/sorrel-users"], ["install -d -m 1777 /dev/shm/sorrel-user", "install -d -m 777 /dev/shm/sorrel-users", "install -m 1777 /dev/shm/sorrel-users"])

    def test_containers_and_recipes(self):
        self.check(["podman build -f packaging/container/Containerfile -t sorrel .", "podman run --rm -v .:/work sorrel true", "spack repo add packaging/spack",
                    "spack dev-build sorrel@main", "rattler-build build --recipe packaging/conda/recipe.yaml", "git clone https://example.org/sorrel.git ../sorrel"],
                   ["podman build -f Containerfile -t sorrel .", "podman run --rm -v .:/home sorrel true", "podman run --rm -v .:/work sorel true",
                    "podman run --rm -v .:/work sorrel false", "spack repo add packaging", "spack dev-build sorrel@0.1.9", "rattler-build build --recipe packaging/recipe.yaml",
                    "git colne a b"])

    def test_launchers_and_tools(self):
        self.check(["mpiexec -n 4 -ppn 1 true", "mpirun -n 4 --bind-to none true", "srun -N 4 -n 4 -K --mpi=pmi2 true", "perf record -g true", "valgrind -q true", "grep -h a b",
                    "otf2-print a/traces.otf2"],
                   ["mpiexec true", "mpiexec -n 4", "mpiexec -n 4 false", "mpirun -n 4 --bind-to thread true", "srun -n 4 --mpi=pmi3 true", "srun -n 4 --mpi=pmi2 false",
                    "perf recrod true", "valgrind --log true", "grep -h a", "otf2-print a"])

    def test_a_debugger(self):
        def session(*lines: str) -> bool:
            with mock.patch("builtins.input", side_effect=[*lines, EOFError]):
                return self.accepts("gdb --args true")

        self.assertTrue(session("run", "sorrel stacks", "print x", "quit"))
        self.assertFalse(session("rnu"))
        self.assertFalse(session("source no-such-file.py"))


if __name__ == "__main__":
    unittest.main()
