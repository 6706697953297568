//! JobVariables - the environment variables by which `sorrel run` passes a job to the library, and
//! the seal that distinguishes a complete set of one `run` from leftovers.
//!
//! `run` computes the seal over all of them as the last step before it starts a process. The
//! library ignores variables without a seal. A seal that does not match is an error, so no value
//! needs a check of its own. Variables that users may set (SORREL_SHARE, SORREL_SPIN, SORREL_EAGER,
//! SORREL_PULL, SORREL_HOST_MEMORY) are not among them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sorrel::runtime {

inline constexpr const char* job_variables[] = {
    "SORREL_RANKS",          "SORREL_WORKERS",
    "SORREL_CPUS",           "SORREL_STACK",
    "SORREL_LABEL",          "SORREL_PROCESSES",
    "SORREL_PROCESS",        "SORREL_SEGMENT",
    "SORREL_IN_PLACE",       "SORREL_WIRE",
    "SORREL_SEED_OF_RUN",    "SORREL_HOST",
    "SORREL_HOST_PLUGINS",   "SORREL_HOST_LIBRARY",
    "SORREL_HOST_BOARD",     "SORREL_HOST_DAEMON",
    "SORREL_HOST_ABORTS",    "SORREL_HOST_UNBOUND",
    "SORREL_VERBOSE",        "SORREL_COMM_WORKER",
    "SORREL_WRAPPER",        "SORREL_WRAPPED",
    "SORREL_CLAIMS",         "SORREL_COMMAND",
    "SORREL_LAUNCHER",       "SORREL_OLD_LD_LIBRARY_PATH",
    "SORREL_OLD_LD_PRELOAD", "SORREL_OWN_LD_LIBRARY_PATH",
    "SORREL_SHARED"};

inline constexpr const char* seal_variable = "SORREL_SEAL";

/// The seal of the values that `lookup(name)` returns: a hash (FNV-1a) of the names and values, in
/// hexadecimal digits.
template <class Lookup>
std::string seal_of(Lookup&& lookup) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char letter : text)
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;
  };
  for (const char* name : job_variables) {
    const char* value = lookup(name);
    if (value == nullptr) continue;
    add(name);
    add(value);
  }
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4)
    digits += "0123456789abcdef"[hash >> shift & 15];
  return digits;
}

}  // namespace sorrel::runtime
