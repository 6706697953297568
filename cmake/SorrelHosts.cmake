# The plugins that carry packets over a host MPI (src/transport/host), one for each binary interface of MPI. Each is compiled with
# that interface's values (src/translate) and opens the host's library by its path, so no other MPI is needed. Users compile the
# installed source with the wrapper of an MPI that has none of these interfaces.
if(SORREL_SANITIZE)
  return()
endif()
set(plugin_dir ${PROJECT_SOURCE_DIR}/src/transport/host/plugin)

# sorrel_host_plugin(NAME INCLUDE_FOLDER DEFINITION…): the folder has the interface's mpi.h.
function(sorrel_host_plugin name folder)
  add_library(host_${name} MODULE ${plugin_dir}/host_plugin.c ${plugin_dir}/host_functions.c)
  target_include_directories(host_${name} PRIVATE ${folder} ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(host_${name} PRIVATE SORREL_HOST_BY_PATH "SORREL_HOST_NAME=\"${name}\"" ${ARGN})
  target_compile_options(host_${name} PRIVATE -O2 -Wall -Wextra -Wshadow -fvisibility=hidden)
  target_link_options(host_${name} PRIVATE -Wl,--no-undefined)
  target_link_libraries(host_${name} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(host_${name} PROPERTIES OUTPUT_NAME sorrel-host-${name} C_STANDARD 11)
  # The command needs its plugins.
  add_dependencies(sorrel host_${name})
  install(TARGETS host_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

foreach(family openmpi mpich)
  sorrel_host_plugin(${family} ${PROJECT_BINARY_DIR}/src/translate/${family})
  add_dependencies(host_${family} sorrel_${family}_header)
endforeach()
target_compile_definitions(host_openmpi PRIVATE SORREL_HOST_OBJECTS)
sorrel_host_plugin(abi ${PROJECT_SOURCE_DIR}/include/mpi)

install(FILES ${plugin_dir}/host_plugin.c DESTINATION share/sorrel/host/transport/host/plugin)
install(FILES ${PROJECT_SOURCE_DIR}/src/transport/host/host_api.h DESTINATION share/sorrel/host/transport/host)
