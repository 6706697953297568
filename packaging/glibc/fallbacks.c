/* Functions that glibc has only since a version after 2.28, for programs and libraries that are to
 * run with 2.28 to contain. Each is an object of its own, cc -DFALLBACK_gettid, so that the linker
 * takes those that are called (cmake/SorrelGlibc.cmake). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Before 2.33 these were inline functions over others, which glibc still has. */
extern int __xstat(int version, const char* path, struct stat* about);
extern int __lxstat(int version, const char* path, struct stat* about);
extern int __fxstat(int version, int file, struct stat* about);
extern int __fxstatat(int version, int folder, const char* path, struct stat* about, int flags);

/* A function has a second name for long files. */
#define ALSO(name, function)                                \
  extern __typeof__(function) also_##function __asm__(name) \
      __attribute__((alias(#function), copy(function)))

#if defined(FALLBACK_stat)
int stat(const char* path, struct stat* about) {
  return __xstat(1, path, about);
}

ALSO("stat64", stat);
#elif defined(FALLBACK_lstat)
int lstat(const char* path, struct stat* about) {
  return __lxstat(1, path, about);
}

ALSO("lstat64", lstat);
#elif defined(FALLBACK_fstat)
int fstat(int file, struct stat* about) {
  return __fxstat(1, file, about);
}

ALSO("fstat64", fstat);
#elif defined(FALLBACK_fstatat)
int fstatat(int folder, const char* path, struct stat* about, int flags) {
  return __fxstatat(1, folder, path, about, flags);
}

ALSO("fstatat64", fstatat);

#elif defined(FALLBACK_gettid)
pid_t gettid(void) {
  return (pid_t)syscall(SYS_gettid);
}

#elif defined(FALLBACK__Fork)
/* The child may call what signal handlers may, and must not use threads. */
pid_t _Fork(void) {
  return (pid_t)syscall(SYS_fork);
}

#elif defined(FALLBACK_arc4random)
/* std::random_device calls it. */
unsigned int arc4random(void) {
  unsigned int number = 0;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
  }
  return number;
}

#elif defined(FALLBACK___libc_single_threaded)
/* The C++ library counts references by atomic operations. */
char __libc_single_threaded = 0;

/* Tables that glibc keeps for programs linked before 2.32. */
#elif defined(FALLBACK_strerrordesc_np)
extern const char* const _sys_errlist[];
extern const int _sys_nerr;

const char* strerrordesc_np(int error) {
  return error >= 0 && error < _sys_nerr ? _sys_errlist[error] : NULL;
}
#elif defined(FALLBACK_sigdescr_np)
extern const char* const _sys_siglist[_NSIG];

const char* sigdescr_np(int number) {
  return number >= 0 && number < _NSIG ? _sys_siglist[number] : NULL;
}

#elif defined(FALLBACK_pthread_cond_clockwait)
/* 2.28 waits by the clock of the condition only, the real-time clock: the time that is left, by
 * that one. */
int pthread_cond_clockwait(pthread_cond_t* condition,
                           pthread_mutex_t* mutex,
                           clockid_t clock,
                           const struct timespec* until) {
  const long long ns_per_s = 1000000000LL;
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  const long long left_ns =
      (until->tv_sec - now.tv_sec) * ns_per_s + (until->tv_nsec - now.tv_nsec);
  const long long real_ns = real.tv_sec * ns_per_s + real.tv_nsec + (left_ns > 0 ? left_ns : 0);
  const struct timespec deadline = {.tv_sec = real_ns / ns_per_s, .tv_nsec = real_ns % ns_per_s};
  return pthread_cond_timedwait(condition, mutex, &deadline);
}

#elif defined(FALLBACK__dl_find_object)
/* What libgcc calls: glibc's function, or the one of a library before it. */
typedef int FindObject(void* address, struct dl_find_object* result);
extern int sorrel_find_object(void* address,
                              struct dl_find_object* result,
                              int (*iterate)(int (*)(struct dl_phdr_info*, size_t, void*), void*));

int _dl_find_object(void* address, struct dl_find_object* result) {
  static FindObject* found;
  static int is_known;
  if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&found, (FindObject*)dlsym(RTLD_DEFAULT, "_dl_find_object"), __ATOMIC_RELAXED);
    __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
  }
  return found != NULL ? found(address, result)
                       : sorrel_find_object(address, result, dl_iterate_phdr);
}

#elif defined(FALLBACK___libc_start_main)
/* Until 2.33 it calls the executable's constructors by a function that the executable gives it;
 * since 2.34 it still does if there is one. */
typedef int Main(int count, char** arguments, char** environment);
typedef void Constructor(int count, char** arguments, char** environment);
extern int of_glibc(Main* program,
                    int count,
                    char** arguments,
                    Constructor* begin,
                    void (*end)(void),
                    void (*end_of_loader)(void),
                    void* stack);
__asm__(".symver of_glibc, __libc_start_main@GLIBC_2.2.5");
extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void) __attribute__((visibility("hidden")));

static void run_constructors(int count, char** arguments, char** environment) {
  _init();
  for (Constructor** each = __init_array_start; each != __init_array_end; ++each)
    (*each)(count, arguments, environment);
}

int __libc_start_main(Main* program,
                      int count,
                      char** arguments,
                      Constructor* begin,
                      void (*end)(void),
                      void (*end_of_loader)(void),
                      void* stack) {
  (void)begin;
  return of_glibc(program, count, arguments, run_constructors, end, end_of_loader, stack);
}
#endif
