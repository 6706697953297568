/// @file
/// The C interface of Sorrel, in addition to MPI.
///
/// A program without MPI links `libsorrel.so.0` (CMake: `Sorrel::loop`, by hand: `-lsorrel`). An
/// MPI program that runs under Sorrel needs no other library: the MPI library includes this
/// interface. A program that must also run under other MPIs links both. Guard the include with
/// `__has_include(<sorrel.h>)` to stay portable.
#ifndef SORREL_H
#define SORREL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Runs the other ready ranks of the calling rank's worker; returns when it is the caller's turn
/// again, at once if no other rank is ready. Use it in loops that wait for an event outside of MPI.
/// Legal at any time, also before MPI_Init. May suspend. Does nothing on a thread without a rank.
void sorrel_yield(void);

/// Any thread, at any time. Never suspends.
///
/// @return the version of the library, "major.minor.patch"; static
const char* sorrel_version(void);

/// @name Parallel loops
/// The calling thread runs chunks of a loop itself. Idle threads join it if they are in time; the
/// caller never waits for a thread that has not joined. In a program without MPI the helpers are
/// threads of the library, started when a loop is long enough. In a rank of an MPI job they are
/// idle workers of the job, so that the loops of all ranks share the job's cores. Loops may be
/// nested, and several threads may run loops at once. Bodies may run on threads of other ranks; do
/// not call MPI from them.
/// @{

/// How a loop is cut into chunks.
enum sorrel_schedule {
  SORREL_AUTOMATIC = 0, /* decreasing chunks, the smallest of about a microsecond */
  SORREL_STATIC = 1,    /* one equal chunk per thread, or chunks of `grain` */
  SORREL_DYNAMIC = 2,   /* chunks of `grain` (0: of one iteration) */
  SORREL_GUIDED = 3     /* decreasing chunks, the smallest `grain` */
};

/// A flag of a loop: it runs only if other threads can join it.
#define SORREL_SHARED_ONLY UINT64_C(1)

/// What a loop or a reduction returns when it has run nothing.
enum sorrel_loop_status {
  /* With SORREL_SHARED_ONLY: no other thread could join the loop, because its thread is the only
     one now, or too many loops of other ranks are open. */
  SORREL_NOT_SHARED = -1,
  /* The library does not know one of the options: a size, a schedule or a flag of a later version.
   */
  SORREL_UNKNOWN_OPTION = -2,
  /* A reduction has not enough memory for its partial results. */
  SORREL_NO_MEMORY = -3
};

/// Options of a loop or a reduction. A null pointer means the default, and so does 0 in each field.
/// Later versions of the library may add fields at the end: 0 in these means what this version
/// does.
struct sorrel_loop_options {
  /// sizeof(struct sorrel_loop_options); 0: the five fields of this version.
  size_t size;
  /// Iterations of the smallest chunk; 0: the default of the schedule.
  int64_t grain;
  enum sorrel_schedule schedule;
  /// Maximum number of threads, the caller included; 0: as many as the governor grants.
  int threads_max;
  /// SORREL_SHARED_ONLY, or 0.
  uint64_t flags;
};

/// Runs the iterations [begin, end). Returns 0 to continue; a positive number cancels the loop:
/// chunks that have not begun are skipped. Negative numbers are the library's.
typedef int (*sorrel_loop_body)(void* argument, int64_t begin, int64_t end);

/// Runs `body` on parts that cover [begin, end), each iteration once, on several threads; returns
/// after all parts. May suspend.
///
/// @param begin the first iteration
/// @param end one past the last iteration
/// @param body must return: neither exceptions nor longjmp may leave it
/// @param argument passed on to `body`
/// @param options schedule, grain and number of threads; null: the default
/// @return 0, or the positive number with which a body cancelled the loop, or a sorrel_loop_status
int sorrel_parallel_for(int64_t begin,
                        int64_t end,
                        sorrel_loop_body body,
                        void* argument,
                        const struct sorrel_loop_options* options);

/// Adds the iterations [begin, end) to `partial`, which is initially a copy of the neutral element.
typedef int (*sorrel_reduce_body)(void* argument, int64_t begin, int64_t end, void* partial);

/// Combines `into` with `from`, into `into`. Always called in the order of the iterations.
typedef void (*sorrel_reduce_combine)(void* argument, void* into, const void* from);

/// Reduces over [begin, end). `*result`, of `bytes` bytes, is the neutral element before the call
/// and the result after it. The parts and the order of combining depend on begin, end and `grain`
/// alone, so the result is the same to the last bit for any number of threads. May suspend.
///
/// @param begin the first iteration
/// @param end one past the last iteration
/// @param body adds a part to a partial result, on any thread
/// @param combine adds two partial results; called by the caller alone
/// @param argument passed on to `body` and `combine`
/// @param result the neutral element, then the result; unchanged if the loop is cancelled
/// @param bytes the size of a result
/// @param options schedule, grain and number of threads; null: the default
/// @return 0, or the positive number with which a body cancelled the loop, or a sorrel_loop_status
int sorrel_parallel_reduce(int64_t begin,
                           int64_t end,
                           sorrel_reduce_body body,
                           sorrel_reduce_combine combine,
                           void* argument,
                           void* result,
                           size_t bytes,
                           const struct sorrel_loop_options* options);

/// Any thread. May suspend.
///
/// @return how many threads a loop of the caller may use now, the caller included; it changes
int sorrel_loop_threads(void);

/// From here on each loop that the calling thread or rank starts uses at most so many threads.
/// Loops of other threads and ranks, and loops that bodies start on helpers, are not limited. A
/// rank that is restored from a checkpoint, or moved to another process, has no limit. May suspend.
///
/// @param count the caller included; 0: no limit; a negative number counts as 1
/// @return the limit before; 0: none
int sorrel_limit_threads(int count);

/// Keeps the current number of threads from here on, for programs that depend on it. Never
/// suspends.
///
/// @return that number, the caller included
int sorrel_freeze_threads(void);

/// sorrel_freeze_threads() by its name in IRIX; also mp_numthreads_ for Fortran.
///
/// @return the number of threads from here on, the caller included
int mp_numthreads(void);

/// Loops use so many threads from here on; the number does not change again. Never suspends.
///
/// @param count the caller included; in a job, at most the number of its workers
void sorrel_set_threads(int count);

/// sorrel_set_threads() by its name in IRIX; also mp_set_numthreads_ for Fortran.
///
/// @param count the caller included; in a job, at most the number of its workers
void mp_set_numthreads(int count);

/// @}

/// @name Checkpoints
/// @{

/// Saves the job into the folder of `sorrel run --checkpoint DIR`; `sorrel restart DIR` goes on
/// from there. A collective call of all ranks, between MPI_Init and MPI_Finalize. May suspend. A
/// program that must run without Sorrel declares it weak, and calls it only if it is there
/// (docs/checkpoint.md).
///
/// @return 0 after the state was taken; 1 when the rank goes on from there in a restarted job; -1
/// if the job cannot be saved at this time, and one line on stderr says why
int sorrel_checkpoint(void);

/// @}

/// @name For libraries that run tasks and messages in a rank
/// @{

/// A caller with work for other threads leaves all of it to them if its worker only polls messages.
/// Any thread. Never suspends.
///
/// @return 1 if the calling rank's worker only polls messages (`sorrel run --comm-worker`); 0
/// otherwise, and outside of ranks
int sorrel_is_comm_worker(void);

/// Writes what a rank waits for, without newlines, to `text`, of `bytes` bytes, zero-terminated.
typedef void (*sorrel_wait_explanation)(void* argument, char* text, size_t bytes);

/// From here on a deadlock report appends the text of `explain` to the calling rank's line. Does
/// nothing outside of ranks. Never suspends.
///
/// @param explain any thread may call it while the rank waits in MPI; null ends that
/// @param argument passed on to `explain`
void sorrel_explain_waits(sorrel_wait_explanation explain, void* argument);

/// @}

#ifdef __cplusplus
}
#endif

#endif
