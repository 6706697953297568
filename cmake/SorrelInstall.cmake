# The layout that `cmake --install` makes, and the package behind find_package(Sorrel).
#
#   bin/sorrel               the command                              (tools/sorrel)
#   bin/mpi/mpicc ...        links under other MPIs' names: put the folder on PATH                 (tools/sorrel)
#   lib/libmpi_abi.so.1      the library; programs with the standard ABI need it by this name
#   lib/libsorrel_fortran.a  Fortran's bindings, a part of each Fortran program  (SorrelFortran.cmake)
#   lib/fortran              mpif.h and the modules mpi and mpi_f08
#   lib/libsorrel-early.so.0 holds back constructors for programs with private libraries, preloaded by `sorrel run`
#   lib/sorrel-python        runs a shared library of Python in place of an interpreter at a fixed address       (tools/python)
#   lib/libsorrel-runtime.so.0   the library without the names of MPI's functions, preloaded for programs of other MPIs
#   lib/translate/openmpi/libmpi.so.40, lib/translate/mpich/libmpi.so.12   translate their calls      (src/translate), with
#       their companions for Fortran and C++ (libmpi_mpifh.so.40, libmpifort.so.12, ...)
#   lib/translate/standard/libmpi_abi.so.1   the names over that library, for interpreters
#   include/mpi/mpi.h        with mpi-ext.h alone in its include folder, so that no other header is found there
#   include/sorrel.h         the interface beside MPI
#   lib/libsorrel-host-*.so  plugins that carry packets over a host MPI         (SorrelHosts.cmake)
#   share/sorrel/host        their source, for MPIs of other binary interfaces
#   lib/libsorrel.so.0       parallel loops for programs without MPI
#   lib/omp/libgomp.so.1     OpenMP for programs compiled by GCC, used by `sorrel run --omp` only; libomp.so.5 and libiomp5.so are links to it
#   lib/omp/libsorrel-threads.so.0   preloaded with it: functions that concern kernel threads
#   include/sorrel/*.hpp     C++ interfaces
#   lib/libsorrel_grid.a     cutting grids, for programs that use include/sorrel/grid.hpp
#   lib/libsorrel_graph.a    task graphs, for programs that use include/sorrel/graph.hpp
#   share/sorrel/machines    machines that `sorrel plan` knows by name
#   share/sorrel/sorrel.cdx.json   the parts of the installation, with versions and licenses (SorrelSbom.cmake)
#   share/sorrel/selftest    what `sorrel selftest` compiles                            (tools/selftest)
#   libexec/sorrel/demo, share/sorrel/demo   the programs of `sorrel demo`, and their sources        (tools/demo)
#   lib/pkgconfig            sorrel-mpi, sorrel (loops without MPI), sorrel-graph, sorrel-grid
#   share/sorrel/gdb         a gdb script that shows a rank's globals
#   share/sorrel/manual      the pages of the manual, for `sorrel docs`         (SorrelManual.cmake)
#   share/man/man1           manual pages, from the commands' --help   (SorrelManual.cmake)
#   share/bash-completion, share/zsh, share/fish   completion of the command for shells
#
# The tree may be moved: `sorrel` finds all parts relative to itself.
#
# Components: runtime, what runs programs; development, what compiles them; benchmarks, the files of `sorrel bench`.
include(CMakePackageConfigHelpers)
set(SORREL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Sorrel)

target_include_directories(mpi_abi INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/mpi> $<INSTALL_INTERFACE:include/mpi>)
set_target_properties(mpi_abi PROPERTIES EXPORT_NAME mpi)
# As the compiler's wrappers do: a large frame must not step over a rank's guard.
target_compile_options(mpi_abi INTERFACE
  $<INSTALL_INTERFACE:$<$<COMPILE_LANG_AND_ID:C,GNU,Clang>:-fstack-clash-protection>>
  $<INSTALL_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-fstack-clash-protection>>)
install(TARGETS mpi_abi EXPORT SorrelTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)
install(TARGETS sorrel_traced_calls sorrel_checked_calls LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
if(TARGET sorrel_early)
  install(TARGETS sorrel_early LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
endif()
install(FILES include/mpi/mpi.h include/mpi/mpi-ext.h DESTINATION include/mpi COMPONENT development)
install(FILES include/sorrel.h DESTINATION include COMPONENT development)
install(DIRECTORY include/sorrel DESTINATION include COMPONENT development)
install(DIRECTORY machines DESTINATION share/sorrel)
# Users read and compile them.
install(DIRECTORY examples/ DESTINATION share/doc/sorrel/examples COMPONENT development FILES_MATCHING PATTERN "*.c" PATTERN "*.cpp")

# Sorrel::loop: sorrel.h without MPI. docs/decisions/0004-a-library-for-plain-programs.md
target_include_directories(sorrel_so INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
set_target_properties(sorrel_so PROPERTIES EXPORT_NAME loop)
install(TARGETS sorrel_so EXPORT SorrelTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)

if(TARGET gomp)
  install(TARGETS gomp LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/omp NAMELINK_SKIP)
  install(FILES $<TARGET_FILE_DIR:gomp>/libomp.so.5 $<TARGET_FILE_DIR:gomp>/libiomp5.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/omp)
endif()
if(TARGET sorrel_threads)
  install(TARGETS sorrel_threads LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/omp NAMELINK_SKIP)
endif()

# Sorrel::sorrel: the interfaces beside MPI, under Sorrel and under other MPIs.
add_library(sorrel_api INTERFACE)
target_link_libraries(sorrel_api INTERFACE sorrel_so mpi_abi)
set_target_properties(sorrel_api PROPERTIES EXPORT_NAME sorrel)
install(TARGETS sorrel_api EXPORT SorrelTargets)

# Sorrel::grid: the C++ interface to cut grids.
target_include_directories(sorrel_grid INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
set_target_properties(sorrel_grid PROPERTIES EXPORT_NAME grid)
target_compile_features(sorrel_grid INTERFACE cxx_std_20)
install(TARGETS sorrel_grid EXPORT SorrelTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

# Sorrel::graph: task graphs, whose helpers are those of loops.
target_include_directories(sorrel_graph INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(sorrel_graph INTERFACE sorrel_so)
set_target_properties(sorrel_graph PROPERTIES EXPORT_NAME graph)
target_compile_features(sorrel_graph INTERFACE cxx_std_20)
install(TARGETS sorrel_graph EXPORT SorrelTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

install(DIRECTORY tools/gdb/ DESTINATION share/sorrel/gdb FILES_MATCHING PATTERN "*.py")

install(EXPORT SorrelTargets NAMESPACE Sorrel:: DESTINATION ${SORREL_PACKAGE_DIR} COMPONENT development)
configure_package_config_file(cmake/SorrelConfig.cmake.in ${PROJECT_BINARY_DIR}/SorrelConfig.cmake
  INSTALL_DESTINATION ${SORREL_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SorrelConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SorrelConfig.cmake ${PROJECT_BINARY_DIR}/SorrelConfigVersion.cmake
  DESTINATION ${SORREL_PACKAGE_DIR} COMPONENT development)

# pkg-config: the same four libraries, found from the place of the .pc file.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
# sorrel_pc(NAME DESCRIPTION REQUIRED_PACKAGES CFLAGS LIBRARY)
function(sorrel_pc name description requires cflags library)
  configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
sorrel_pc(sorrel-mpi "MPI programs with many more ranks than cores" "" "-I\${includedir}/mpi -fstack-clash-protection" mpi_abi)
sorrel_pc(sorrel "Parallel loops" "" "" sorrel)
sorrel_pc(sorrel-graph "Task graphs" sorrel "" sorrel_graph)
sorrel_pc(sorrel-grid "Regular grids, cut over ranks" "" "" sorrel_grid)
