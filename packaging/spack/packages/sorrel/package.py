# Copyright the Sorrel developers
# SPDX-License-Identifier: Apache-2.0
"""In the root of the sources: docs/howto/build-systems.md has the commands."""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Sorrel(CMakePackage):
    """Runs MPI programs with many more ranks than cores: each rank is a user-level thread with its own globals. Also
    parallel loops, task graphs and unmodified OpenMP programs."""

    license("Apache-2.0", checked_by="sorrel")

    version("main")

    variant("fortran", default=True, description="Install the modules of Fortran for this compiler")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3:", type=("build", "run"))
    depends_on("cli11@2.1:", type="build")
    depends_on("fmt@8:", type="build")
    depends_on("nlohmann-json@3.7:", type="build")
    depends_on("hwloc@2:", type=("build", "run"))

    conflicts("platform=darwin")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("SORREL_TESTS", False),
            self.define("SORREL_APPS", False),
            self.define("SORREL_BENCH", True),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_benchmark", True),
        ]

    def setup_run_environment(self, env):
        env.prepend_path("PATH", self.prefix.bin.mpi)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_installation(self):
        Executable(self.prefix.bin.sorrel)("selftest")
