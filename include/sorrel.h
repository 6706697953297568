/// @file
/// The C interface of Sorrel, beside MPI.
///
/// A program without MPI links `libsorrel.so.0` (CMake: `Sorrel::loop`, by hand: `-lsorrel`). An
/// MPI program that runs under Sorrel needs nothing else: the library that serves MPI serves this
/// too; one that shall also run under other MPIs links both. Guard the include with
/// `__has_include(<sorrel.h>)` to stay portable.
#ifndef SORREL_H
#define SORREL_H

#include <stddef.h>
#include <stdint.h>

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

/// @name Parallel loops
/// The calling thread runs chunks of a loop itself; threads that have nothing else to do join it if
/// they come in time, and it never waits for one that has not come. In a plain program the helpers
/// are threads of the library, started when a loop is long enough to be worth it; in a rank of an
/// MPI job they are the job's workers without work, so that all ranks' loops share the job's cores.
/// Loops may be nested, and run by several threads at once. In bodies, only the rank that called
/// may be sure to be itself: MPI must not be called there.
/// @{

/// How a loop is cut into chunks.
enum sorrel_schedule {
  SORREL_AUTOMATIC = 0, /* decreasing chunks, the smallest of about a microsecond */
  SORREL_STATIC = 1,    /* one equal chunk per thread, or chunks of `grain` */
  SORREL_DYNAMIC = 2,   /* chunks of `grain` (0: of one iteration) */
  SORREL_GUIDED = 3     /* decreasing chunks, the smallest `grain` */
};

/// All zero is the default. A null pointer means the default, too.
struct sorrel_loop_options {
  enum sorrel_schedule schedule;
  /// Iterations of the smallest chunk; 0: as the schedule has it.
  int64_t grain;
  /// At most so many threads, the caller included; 0: as many as the governor grants.
  int threads_max;
};

/// Runs the iterations [begin, end). Returns 0 to go on; anything else cancels the loop: chunks
/// that have not begun are left out.
typedef int (*sorrel_loop_body)(void* argument, int64_t begin, int64_t end);

/// Runs `body` on parts that cover [begin, end), each iteration once, on several threads; returns
/// when all is done. Returns 0, or what a body returned to cancel the loop. May suspend. The body
/// must not throw or leave by longjmp.
int sorrel_parallel_for(int64_t begin,
                        int64_t end,
                        sorrel_loop_body body,
                        void* argument,
                        const struct sorrel_loop_options* options);

/// Adds the iterations [begin, end) to `partial`, which begins as a copy of the neutral element.
typedef int (*sorrel_reduce_body)(void* argument, int64_t begin, int64_t end, void* partial);

/// into = into combined with from. Always called in the order of the iterations.
typedef void (*sorrel_reduce_combine)(void* argument, void* into, const void* from);

/// Reduces over [begin, end). `*result`, of `bytes` bytes, is the neutral element before and the
/// result after. The parts and the order of combining depend on begin, end and `grain` alone, so
/// the result is the same to the last bit whatever runs it. Returns 0, or what a body returned to
/// cancel; then `*result` is as before. -1: no memory for the parts. May
/// suspend.
int sorrel_parallel_reduce(int64_t begin,
                           int64_t end,
                           sorrel_reduce_body body,
                           sorrel_reduce_combine combine,
                           void* argument,
                           void* result,
                           size_t bytes,
                           const struct sorrel_loop_options* options);

/// How many threads a loop of the caller may use at this moment, itself included. It changes.
int sorrel_loop_threads(void);

/// The number of threads now, which is kept from here on: a program that asks depends on it. The
/// same as mp_numthreads of IRIX, whose name is here, too (Fortran: mp_numthreads_).
int sorrel_freeze_threads(void);
int mp_numthreads(void);

/// Loops have `count` threads from here on, the caller included; it is not changed any more. In a
/// job not more than it has workers.
void sorrel_set_threads(int count);
void mp_set_numthreads(int count);

/// @}

/// @name For libraries that run tasks and messages in a rank
/// @{

/// Whether the calling rank's worker is to look after messages only (`sorrel run --comm-worker`):
/// who has work for other threads then leaves all of it to them. 0 outside of ranks. Any thread.
int sorrel_is_comm_worker(void);

/// Writes what a rank waits for, without newlines, to `text`, of `bytes` bytes, ending with 0.
typedef void (*sorrel_wait_explanation)(void* argument, char* text, size_t bytes);

/// From here on a deadlock report adds what `explain` writes to the calling rank's line; null ends
/// that. It is called on any thread while the rank waits in MPI. Does nothing outside of ranks.
void sorrel_explain_waits(sorrel_wait_explanation explain, void* argument);

/// @}

#ifdef __cplusplus
}
#endif

#endif
