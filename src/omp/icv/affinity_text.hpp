//! What omp_display_affinity() writes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sorrel::omp {

struct AffinityFields {
  std::uint32_t team_number = 0;
  std::uint32_t team_count = 1;
  std::uint32_t level = 0;
  std::uint32_t thread_number = 0;
  std::uint32_t thread_count = 1;
  int ancestor = -1;
  std::string host;
  long process = 0;
  long native_thread = 0;
  std::string cpus;
};

/// `format` with its fields (%L, %{thread_num}, %0.5i, ...) replaced.
[[nodiscard]] std::string format_affinity(const std::string& format, const AffinityFields& fields);

/// Copies what fits, with an end; returns the length of all of it.
std::size_t copy_text(const std::string& text, char* buffer, std::size_t bytes);

}  // namespace sorrel::omp
