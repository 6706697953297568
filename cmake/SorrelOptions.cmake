# Every switch of the build, and the flags that follow from them.
option(SORREL_TESTS "Build the tests" ON)
option(SORREL_BENCH "Build the benchmarks" OFF)
option(SORREL_APPS "Build the example programs and apps" ON)
option(SORREL_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
option(SORREL_UNITY "Compile several sources at once: the first build takes half the time, a later one more" OFF)
option(SORREL_UNITY_OUTER "The same for the command and the unit tests only; the modules of the runtime are compiled source by source, with precompiled headers where no compiler cache is" OFF)
set(SORREL_UNITY_OFF "" CACHE STRING "Targets whose sources are compiled one by one in spite of these")
mark_as_advanced(SORREL_UNITY_OUTER SORREL_UNITY_OFF)
option(SORREL_RUN_ONLY "Build a command that runs programs: without plan, report, ps, top, stack and selftest" OFF)
mark_as_advanced(SORREL_RUN_ONLY)
option(SORREL_EVENTS "Record the latest events of each worker, for reports; OFF to measure what that costs" ON)
mark_as_advanced(SORREL_EVENTS)
option(SORREL_STUDY "A build for measurements: SORREL_STUDY_STEPS in the environment takes back steps of the message layer" OFF)
option(SORREL_WHEEL "Install without symbolic links, for pyproject.toml" OFF)
set(SORREL_INSTALL_MPIDIR ${CMAKE_INSTALL_BINDIR}/mpi CACHE STRING "Where mpicc, mpiexec and other names of other MPIs are installed")
set(SORREL_ASSERT_LEVEL "check" CACHE STRING "check (always on) < assert (cheap) < audit (O(n) walks)")
set_property(CACHE SORREL_ASSERT_LEVEL PROPERTY STRINGS check assert audit)
set(SORREL_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# A program is not linked again when a shared library changes, which is built before it; what is made from a library names it in DEPENDS.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Releases have the same bytes wherever their sources and build lie: no path of theirs is in messages and search paths.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  add_compile_options(-fmacro-prefix-map=${PROJECT_BINARY_DIR}/= -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
endif()

# The flags of all that is compiled here; user programs do not get them.
add_library(sorrel_flags INTERFACE)
target_compile_options(sorrel_flags INTERFACE
  # Sources that are compiled as one see each other's names.
  -Wall -Wextra $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow> $<$<COMPILE_LANGUAGE:CXX>:-Wconversion>
  $<$<AND:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-subobject-linkage>
  # GCC 12 reports overlapping copies in the concatenation of strings (GCC bug 105651), and with -O3 copies that are too long.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict $<$<CONFIG:Release>:-Wno-stringop-overflow>>)
target_compile_definitions(sorrel_flags INTERFACE
  SORREL_ASSERT_LEVEL=$<IF:$<STREQUAL:${SORREL_ASSERT_LEVEL},audit>,2,$<IF:$<STREQUAL:${SORREL_ASSERT_LEVEL},assert>,1,0>>
  SORREL_VERSION="${PROJECT_VERSION}")
if(SORREL_STUDY)
  target_compile_definitions(sorrel_flags INTERFACE SORREL_STUDY)
endif()
if(SORREL_WARNINGS_AS_ERRORS)
  target_compile_options(sorrel_flags INTERFACE -Werror)
endif()
if(SORREL_SANITIZE)
  target_compile_options(sorrel_flags INTERFACE -fsanitize=${SORREL_SANITIZE})
  target_link_options(sorrel_flags INTERFACE -fsanitize=${SORREL_SANITIZE})
  # Instrumented, initialized members of std::optional look uninitialized to GCC 12.
  target_compile_options(sorrel_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
endif()
if(SORREL_SANITIZE MATCHES "thread")
  # The thread sanitizer does not support fences, and gcc warns. No data is ordered by Sorrel's (os/memory_barrier.hpp).
  target_compile_options(sorrel_flags INTERFACE -Wno-tsan)
endif()
find_package(Threads REQUIRED)
