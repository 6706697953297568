# The Fortran bindings (src/fortran/README.md): libsorrel_fortran.a, which becomes a part of the user's executable, and in
# lib/fortran mpif.h, the sources of the modules, and the modules for the gfortran that is found here, if any. For another
# gfortran, `sorrel fc` makes them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(fortran_source ${PROJECT_SOURCE_DIR}/src/fortran)
set(fortran_work ${PROJECT_BINARY_DIR}/src/fortran)
set(fortran_folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fortran)
set(make_fortran ${fortran_source}/make_fortran.py)
file(MAKE_DIRECTORY ${fortran_work} ${fortran_folder})

if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(fortran_kinds --real10)
endif()

function(sorrel_make_fortran kind output)
  add_custom_command(OUTPUT ${output} VERBATIM
    COMMAND ${Python3_EXECUTABLE} -B ${make_fortran} ${fortran_kinds} ${kind} ${output}
    DEPENDS ${make_fortran} ${fortran_source}/callbacks.f90 ${PROJECT_SOURCE_DIR}/src/abi/make_bindings.py
      ${PROJECT_SOURCE_DIR}/src/abi/functions.txt ${PROJECT_SOURCE_DIR}/include/mpi/mpi.h)
endfunction()

file(GLOB fortran_shims CONFIGURE_DEPENDS ${fortran_source}/*.c)
# One object for each chapter of the standard: the linker takes those that a program uses.
foreach(chapter 3 4 5 6 7 8 9 10 11 12 13 14 16 20)
  sorrel_make_fortran(shims-${chapter} ${fortran_work}/chapter_${chapter}.c)
  list(APPEND fortran_shims ${fortran_work}/chapter_${chapter}.c)
endforeach()
# An object of its own: `sorrel info` and `run` look for functions that start ranks.
sorrel_make_fortran(dynamic ${fortran_work}/dynamic.c)
sorrel_make_fortran(aliases ${fortran_work}/aliases.c)
add_library(sorrel_fortran STATIC ${fortran_shims} ${fortran_work}/dynamic.c ${fortran_work}/aliases.c)
set_target_properties(sorrel_fortran PROPERTIES C_VISIBILITY_PRESET default
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
target_include_directories(sorrel_fortran PRIVATE ${PROJECT_SOURCE_DIR}/src ${fortran_work} ${PROJECT_SOURCE_DIR}/include/mpi)
# Without sanitizers: it is linked by gfortran, into programs that have none.
target_compile_options(sorrel_fortran PRIVATE -Wall -Wextra -fno-sanitize=all)
if(SORREL_WARNINGS_AS_ERRORS)
  target_compile_options(sorrel_fortran PRIVATE -Werror)
endif()

sorrel_make_fortran(mpif ${fortran_folder}/mpif.h)
set(fortran_files ${fortran_folder}/mpif.h)
foreach(kind types mpi mpi_f08)
  sorrel_make_fortran(${kind} ${fortran_folder}/${kind}.f90)
  list(APPEND fortran_modules ${fortran_folder}/${kind}.f90)
endforeach()
list(APPEND fortran_files ${fortran_modules})

find_program(SORREL_GFORTRAN gfortran DOC "gfortran, for the modules of its version")
if(SORREL_GFORTRAN AND NOT CMAKE_CROSSCOMPILING)
  execute_process(COMMAND ${SORREL_GFORTRAN} -dumpfullversion OUTPUT_VARIABLE gfortran_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(gfortran_folder ${fortran_folder}/gfortran-${gfortran_version})
  add_custom_command(OUTPUT ${gfortran_folder}/mpi_f08.mod VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${gfortran_folder}
    # The names of the sources are in the modules: without a path, they are the same for each build.
    COMMAND ${SORREL_GFORTRAN} -fsyntax-only -ffree-line-length-none -w -J ${gfortran_folder} types.f90 mpi.f90 mpi_f08.f90
    WORKING_DIRECTORY ${fortran_folder} DEPENDS ${fortran_modules})
  list(APPEND fortran_files ${gfortran_folder}/mpi_f08.mod)
endif()
add_custom_target(sorrel_fortran_files ALL DEPENDS ${fortran_files})

install(TARGETS sorrel_fortran ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${fortran_folder} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
