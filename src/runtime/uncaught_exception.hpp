//! UncaughtException - an uncaught exception ends the job with one line that names the rank, the
//! exception's type and its what(), and with the place of the throw.
//!
//! Uses the program's C++ library, which is not this library's own. A program that is linked
//! statically with one, and one that has a terminate handler or a handler of SIGABRT, ends by
//! abort().
#pragma once

namespace sorrel::runtime {

/// Replaces the C++ library's own terminate handler, if there is one. May be called repeatedly; has
/// an effect while crashes are watched for.
void watch_for_uncaught_exceptions();

}  // namespace sorrel::runtime
