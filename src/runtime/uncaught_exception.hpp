//! UncaughtException - an exception that nothing catches ends the job with one line that names the
//! rank, the exception's type and what it says, and with the place of the throw.
//!
//! Asks the C++ library that the program uses, which is not this library's own. A program that is
//! linked statically with one, and one that has a terminate handler or a handler of SIGABRT, ends
//! by abort().
#pragma once

namespace sorrel::runtime {

/// Takes the place of the C++ library's own terminate handler, if there is one. Any number of
/// times; works while crashes are watched for.
void watch_for_uncaught_exceptions();

}  // namespace sorrel::runtime
