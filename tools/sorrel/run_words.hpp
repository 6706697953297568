//! RunWords - what the options of `sorrel run` say; Wanted - the same, read, as far as neither
//! program nor machine need be known.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/sorrel/host.hpp"

namespace sorrel::tool {

inline constexpr const char* run_usage = "sorrel run [options] PROGRAM [ARGS…]";

struct RunWords {
  std::string ranks;
  std::string procs;
  std::string workers;
  std::string stack;
  std::string bind;
  std::string share;
  std::string wire;
  std::string seed;
  std::vector<std::string> shared;
  HostWords host;
  bool label = false;
  bool verbose = false;
  bool omp = false;
  bool comm_worker = false;
};

struct Wanted {
  std::optional<std::uint64_t> ranks;
  std::optional<std::uint64_t> procs;
  std::optional<std::uint64_t> workers;
  std::uint64_t stack_bytes = 0;    ///< 0: not named
  std::vector<std::string> shared;  ///< libraries that ranks may share, names or paths
  bool is_auto = false;             ///< --procs auto
  bool has_threads = false;         ///< --omp
};

/// Reads options into `words`, which must live as long.
[[nodiscard]] std::unique_ptr<CLI::App> make_run_app(RunWords& words);

/// Whether the words tell of ranks: then --omp is about what is inside of them.
[[nodiscard]] bool tells_of_ranks(const RunWords& words);

/// Nothing if it complained.
[[nodiscard]] std::optional<Wanted> read_words(const RunWords& words);

}  // namespace sorrel::tool
