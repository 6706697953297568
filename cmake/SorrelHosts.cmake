# The plugins that carry packets over an installed MPI (src/transport/host), one for each MPI that CMake finds. Each is
# compiled by that MPI's own wrapper, in a command of its own: its mpi.h never shares an include path with Sorrel's.
# Without any host MPI one plugin is built, which is opened by path: for MPIs with the standard ABI.
#
#   SORREL_HOST_OPENMPI_CC, SORREL_HOST_MPICH_CC    compiler wrappers, when they are not found
if(SORREL_SANITIZE)
  return()
endif()
find_program(SORREL_HOST_OPENMPI_CC NAMES mpicc.openmpi PATHS /usr/lib64/openmpi/bin DOC "Open MPI's compiler wrapper")
find_program(SORREL_HOST_MPICH_CC NAMES mpicc.mpich PATHS /usr/lib64/mpich/bin DOC "MPICH's compiler wrapper")

set(plugin_dir ${PROJECT_SOURCE_DIR}/src/transport/host/plugin)
set(host_flags -I${PROJECT_SOURCE_DIR}/src -std=c11 -O2 -g -Wall -Wextra -Wshadow -fPIC -fvisibility=hidden -shared -Wl,--no-undefined)

# sorrel_host_plugin(NAME COMPILER SOURCES… FLAGS…)
function(sorrel_host_plugin name compiler)
  set(file ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libsorrel-host-${name}.so)
  cmake_parse_arguments(plugin "" "" "SOURCES;FLAGS" ${ARGN})
  add_custom_command(OUTPUT ${file}
    COMMAND ${compiler} ${host_flags} -DSORREL_HOST_NAME="${name}" ${plugin_FLAGS} ${plugin_SOURCES} -o ${file} -ldl
    DEPENDS ${plugin_SOURCES} ${plugin_dir}/host_functions.h ${plugin_dir}/../host_api.h
    COMMENT "Building the plugin for the host MPI ${name}" VERBATIM)
  add_custom_target(host_${name} ALL DEPENDS ${file})
  # The command needs its plugins.
  add_dependencies(sorrel host_${name})
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

set(found_hosts "")
if(SORREL_HOST_OPENMPI_CC)
  sorrel_host_plugin(openmpi ${SORREL_HOST_OPENMPI_CC} SOURCES ${plugin_dir}/host_plugin.c)
  string(APPEND found_hosts " Open MPI,")
endif()
if(SORREL_HOST_MPICH_CC)
  sorrel_host_plugin(mpich ${SORREL_HOST_MPICH_CC} SOURCES ${plugin_dir}/host_plugin.c)
  string(APPEND found_hosts " MPICH,")
endif()
sorrel_host_plugin(abi ${CMAKE_C_COMPILER}
  SOURCES ${plugin_dir}/host_plugin.c ${plugin_dir}/host_functions.c
  FLAGS -DSORREL_HOST_BY_PATH -I${PROJECT_SOURCE_DIR}/include/mpi)
message(STATUS "Host MPIs:${found_hosts} any of the standard ABI")
