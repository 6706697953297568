/// @file
/// The C interface of Sorrel, beside MPI: for programs that know they run under it.
///
/// A program that uses it needs nothing else: the library that serves MPI serves this too. Guard
/// the include with `__has_include(<sorrel.h>)` to stay portable.
#ifndef SORREL_H
#define SORREL_H

#ifdef __cplusplus
extern "C" {
#endif

/// Lets the other ranks of the calling rank's worker run that are ready to; returns when it is the
/// caller's turn again, at once if nobody else is ready. For loops that wait for something MPI does
/// not know of. Legal at any time, before MPI_Init too. May suspend. Does nothing on a thread that
/// runs no rank.
void sorrel_yield(void);

/// The version of the library, "major.minor.patch". Static. Any thread, at any time.
const char* sorrel_version(void);

#ifdef __cplusplus
}
#endif

#endif
