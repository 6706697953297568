//! Other OpenMP libraries in a process: copies that wheels bring, and those that are opened while
//! the program runs. They are loaded, but the calls of the program come to this library, which the
//! loader has loaded before.
#pragma once

namespace sorrel::omp {

/// A thread of the program uses OpenMP: with SORREL_OMP_VERBOSE=1, lines about these libraries are
/// printed as the process ends.
void report_other_libraries_at_end();

}  // namespace sorrel::omp
