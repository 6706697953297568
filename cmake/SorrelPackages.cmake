# Packages by CPack: `cmake --workflow --preset deb` makes the Debian package, `cpack -G TGZ` an archive of any build. `./dev release` makes
# all (packaging/release.sh).
set(CPACK_PACKAGE_NAME sorrel)
set(CPACK_PACKAGE_VENDOR "The Sorrel developers")
set(CPACK_PACKAGE_CONTACT "The Sorrel developers <sorrel@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs MPI programs with many more ranks than cores")
set(CPACK_PACKAGE_DESCRIPTION "Each rank is a user-level thread with its own globals; when it waits, its core runs another rank.
 Also parallel loops, task graphs and unmodified OpenMP programs.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Not by dpkg-shlibdeps: it does not know the translations, whose names are those of other packages.
set(libc_version ${SORREL_GLIBC})
if(NOT libc_version)
  execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE libc_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX MATCH "[0-9.]+$" libc_version "${libc_version}")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${libc_version})")
# hwloc is opened at run time; compilers are those of `sorrel cc`, `cxx` and `fc`.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libhwloc15, gcc, g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gfortran, python3 (>= 3.11)")

# Names of private libraries are those of other packages, too: they are neither offered nor needed.
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
# Every rpm since RHEL 8 reads it.
set(CPACK_RPM_COMPRESSION_TYPE gzip)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP "Development/Libraries")
set(CPACK_RPM_PACKAGE_SUGGESTS "gcc, gcc-c++, gcc-gfortran, hwloc-libs, python3")
set(CPACK_RPM_SPEC_MORE_DEFINE "%global __provides_exclude_from /(translate|omp)/
%global __requires_exclude ^lib(mpi|mpifort|mpicxx|mpi_mpifh|mpi_usempi.*|sorrel.*|gomp)[.]so")
# Folders of the distribution.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/bash-completion
  /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d
  /usr/lib64/cmake /usr/lib64/pkgconfig /usr/libexec)
include(CPack)
