//! Preflight - whether a program can run here, decided before anything is started.
//!
//! Reads the program and the libraries it needs (except those of the compiler and the system) and
//! compares their dynamic symbols with those of Sorrel's library. Loads nothing, and starts nothing
//! but the loader, for libraries that it does not find itself. `run` and `info` report the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "os/library_classifier.hpp"
#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

/// A library whose functions MPI_X call PMPI_X.
struct ProfilingTool {
  std::string library;
  std::size_t function_count = 0;
};

struct ProgramReport {
  std::string name;  ///< as on the command line
  std::string path;  ///< the file, "" if there is none
  std::string kind;  ///< "position-independent executable", …; "" if not ELF
  bool is_pie = false;
  /// In the program and its private libraries.
  bool has_tls = false;
  std::uint64_t tls_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t bss_bytes = 0;
  std::vector<os::NeededLibrary> needed;  ///< of the program and, in turn, of its libraries
  /// Names of those of which each rank of a process has its own.
  std::vector<std::string> private_libraries;
  std::vector<std::string> functions;          ///< MPI functions it calls, sorted
  std::vector<std::string> missing_functions;  ///< not provided
  std::vector<std::string> spawn_functions;    ///< need places for further ranks
  bool uses_mpi = false;                       ///< needs the standard ABI's library
  /// The loader would not take Sorrel's library by itself: it must be preloaded.
  bool must_preload = false;
  /// Why its ranks cannot share a process; "" if they can.
  std::string own_process_reason;
  /// For a script: its interpreter's path and argument, and its own path. Then `path` and the
  /// rest are the interpreter's.
  std::vector<std::string> leading_arguments;
  bool is_static = false;
  /// It, or its interpreter, loads code that calls MPI while it runs.
  bool is_interpreter = false;
  bool is_python = false;
  /// For an interpreter of Python at a fixed address: its path. `path` and the rest are then those
  /// of the program that runs python_library in its place; ranks that are processes run the
  /// interpreter.
  std::string own_interpreter;
  std::string python_library;
  /// The MPI for whose own binary interface it is built, if Sorrel does not translate that, and the
  /// library of it that it needs; or "".
  std::string foreign_mpi;
  std::string foreign_library;
  /// The MPI for whose own binary interface it is built, if Sorrel translates that, and the folder
  /// of the translation; or "".
  std::string translated_mpi;
  std::string translation_folder;
  /// The library of MPI that shows for which interface it is built, or "".
  std::string interface_library;
  /// Its libraries that observe calls of MPI (PMPI).
  std::vector<ProfilingTool> tools;
  /// Files of it that a library path would not overrule, and the MPI's own library of C++ classes.
  std::vector<std::string> preloaded_translations;
  /// A shell script, or an executable without MPI that can start other programs.
  bool starts_programs = false;
  /// An executable without MPI that runs as ranks nevertheless: it uses Sorrel's loops or graphs,
  /// or opens libraries while it runs, which may call MPI.
  bool may_be_ranks = false;
  bool uses_openmp = false;  ///< needs an OpenMP library, GCC's or LLVM's
  /// For a program below a wrapper: the wrapper's name. Then `path` is the wrapper's, and
  /// wrapped_path the program's, if it is known. See wrapper.hpp.
  std::string wrapper;
  std::string wrapped_path;
  std::string refusal;  ///< why it cannot run, one line; "" if it can

  [[nodiscard]] bool is_mpi_program() const {
    return uses_mpi || is_interpreter || !foreign_mpi.empty();
  }

  /// Neither it nor a program that it starts can be the ranks of a job.
  [[nodiscard]] bool has_no_ranks() const {
    return !wrapper.empty() && wrapped_path.empty() && !starts_programs;
  }
};

/// What users say about libraries, by name or path.
struct LibraryOptions {
  std::vector<std::string> shared;        ///< ranks may share them (--shared)
  std::vector<std::string> private_ones;  ///< each rank has its own (--private)
  /// Whether Sorrel's library can be preloaded; not below a wrapper, which would load it, too.
  bool may_preload = true;
};

[[nodiscard]] ProgramReport inspect_program(const std::string& name,
                                            const Installation& installation,
                                            const LibraryOptions& libraries = {});

/// One line about the first wrong name in an option; "" if each names a library of the program, or,
/// for --shared, another file that it may open.
[[nodiscard]] std::string check_library_options(const ProgramReport& report,
                                                const LibraryOptions& options,
                                                const Installation& installation);

/// The functions `names` of `report` as a sentence: "2 MPI functions that …: A, B".
[[nodiscard]] std::string describe_functions(const ProgramReport& report,
                                             const std::vector<std::string>& names,
                                             std::string_view what);

/// Memory maps of a rank: two for each module of its privatized image, two more for thread-locals
/// (OpenMP has some), two for large initialised data, two for stack and guard on older kernels.
/// This is an estimate for an early answer; the library counts again from the image (src/program).
struct MapBudget {
  std::uint64_t map_count_max = 0;  ///< vm.max_map_count
  std::uint64_t other_maps = 0;     ///< of the process itself
  std::uint64_t maps_per_rank = 0;
  [[nodiscard]] std::uint64_t ranks_max() const;
};

[[nodiscard]] MapBudget map_budget(const ProgramReport& program);

}  // namespace sorrel::tool
