# sorrel_unity(TARGET): up to sixteen sources of a folder are compiled as one. Sources whose private names would clash have the
# property SKIP_UNITY_BUILD_INCLUSION.
function(sorrel_unity target)
  if(target IN_LIST SORREL_UNITY_OFF)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/.*\\.cpp$")
  foreach(source IN LISTS sources)
    get_source_file_property(is_alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT is_alone)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER ${folder} group)
      list(APPEND members_${group} ${source})
      list(LENGTH members_${group} length)
      math(EXPR part "(${length} - 1) / 16")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# sorrel_module(NAME): an object library of every source below src/NAME, named sorrel_NAME, with _ for /. A module that
# is listed in SORREL_MODULES is part of the runtime's library.
# Include arrows between modules are checked by tests/lint (layers.toml), not by link lines.
function(sorrel_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp ${PROJECT_SOURCE_DIR}/src/${name}/*.S)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target sorrel_${name})
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/mpi)
  target_link_libraries(${target} PRIVATE sorrel_flags)
  # An assembly source of another architecture is empty after preprocessing, and so lacks this note.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:ASM>:-Wa,--noexecstack>)
  set_property(GLOBAL APPEND PROPERTY SORREL_MODULES ${target})
  if(SORREL_UNITY AND NOT name IN_LIST SORREL_ALONE)
    sorrel_unity(${target})
  endif()
  # The faces of abi are visible, and what is compiled for the others is not.
  if(SORREL_UNITY AND NOT name STREQUAL "abi")
    sorrel_precompiled(${target})
  endif()
endfunction()

# sorrel_precompiled(TARGET): its C++ sources begin with headers of the C++ library that are compiled once. Only with SORREL_UNITY: other
# builds notice headers that a source forgets.
function(sorrel_precompiled target)
  if(NOT TARGET sorrel_std)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/sorrel_std.cpp CONTENT "")
    add_library(sorrel_std OBJECT ${PROJECT_BINARY_DIR}/sorrel_std.cpp)
    target_link_libraries(sorrel_std PRIVATE sorrel_flags)
    foreach(header algorithm array atomic cstring functional map memory optional span string string_view utility vector)
      target_precompile_headers(sorrel_std PRIVATE $<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>)
    endforeach()
  endif()
  target_precompile_headers(${target} REUSE_FROM sorrel_std)
endfunction()

# sorrel_unit_tests(NAME): one GoogleTest program of every *_test.cpp below tests/unit/NAME, label "unit".
function(sorrel_unit_tests name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${name}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/mpi ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(test_${name} PRIVATE sorrel_static sorrel_flags GTest::gtest_main)
  if(SORREL_UNITY OR SORREL_UNITY_OUTER)
    sorrel_unity(test_${name})
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX "unit.${name}." PROPERTIES LABELS unit TIMEOUT 60 DISCOVERY_TIMEOUT 60)
endfunction()

# sorrel_program(NAME SOURCE...): an MPI program as its author would build it, without Sorrel's flags.
function(sorrel_program name)
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow)
  target_link_libraries(${name} PRIVATE mpi_abi)
endfunction()

# sorrel_program_test(NAME RANKS LABEL COMMAND...): runs one with that number of ranks; its exit status is the result.
function(sorrel_program_test name ranks label)
  add_test(NAME ${name} COMMAND sorrel run -n ${ranks} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 60)
endfunction()
