# Packages by CPack: `cmake --workflow --preset deb` makes the Debian package, `cpack -G TGZ` an archive of any build.
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
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
# hwloc is opened at run time; compilers are those of `sorrel cc`, `cxx` and `fc`.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libhwloc15, gcc, g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gfortran, python3 (>= 3.11)")
include(CPack)
