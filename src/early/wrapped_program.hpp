//! WrappedProgram - this process as a program below a wrapper (`sorrel run env X=1 ./app`).
//!
//! The wrapper and every program that it starts load this library. Only an MPI program of the job
//! has private libraries. `sorrel run` has found them if the wrapper's arguments name the program;
//! otherwise `sorrel preflight` finds them here.
#pragma once

namespace sorrel::early {

/// The names of this program's private libraries, as in the job's text `job`; null if it has none
/// or is another program. May execute the program again without this library, with Sorrel's
/// library for programs of other MPIs' interfaces, or with Sorrel's folders first in the loader's
/// path. Starts a child for a program that the job's text
/// does not name.
[[nodiscard]] const char* private_names_below_wrapper(const char* job,
                                                      char** arguments,
                                                      char** environment);

}  // namespace sorrel::early
