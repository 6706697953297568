// What the sources of this library share: the function of the C library behind one of theirs. They
// define _GNU_SOURCE.
#pragma once

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

// Defined in the OpenMP library. Without it nothing is changed.
__attribute__((weak)) void sorrel_omp_leave_native_thread_1(void);

static inline void leave_native_thread(void) {
  if (sorrel_omp_leave_native_thread_1 != NULL) sorrel_omp_leave_native_thread_1();
}

// Before glibc 2.36 RTLD_NEXT finds the oldest version of a function, which is another one here.
static inline const char* version_of(const char* name) {
  if (strncmp(name, "pthread_cond_", strlen("pthread_cond_")) == 0) return "GLIBC_2.3.2";
  if (strstr(name, "affinity") != NULL) return "GLIBC_2.3.4";
  return strncmp(name, "posix_spawn", strlen("posix_spawn")) == 0 ? "GLIBC_2.15" : NULL;
}

// The function of that name behind this library. Threads that ask at once find the same one.
static inline void* find_next(void** kept, const char* name) {
  void* next = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if (next != NULL) return next;
  const char* const version = version_of(name);
  if (version != NULL) next = dlvsym(RTLD_NEXT, name, version);
  if (next == NULL) next = dlsym(RTLD_NEXT, name);
  if (next == NULL) abort();
  __atomic_store_n(kept, next, __ATOMIC_RELAXED);
  return next;
}

#define NEXT(name)          \
  static void* kept_##name; \
  __typeof__(&name) next = (__typeof__(&name))find_next(&kept_##name, #name)
