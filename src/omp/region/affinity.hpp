//! What a thread displays of itself: omp_display_affinity(), OMP_DISPLAY_AFFINITY, and the format
//! of the process for both.
#pragma once

#include <string>

#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

/// `thread`, by `format`; null or empty: the format of the process.
[[nodiscard]] std::string affinity_of(const TeamThread& thread, const char* format);

/// Writes it to stderr, as a line.
void display_affinity(const TeamThread& thread, const char* format);

[[nodiscard]] std::string affinity_format();
void set_affinity_format(const char* format);

}  // namespace sorrel::omp
