//! Common functions of the MPI test programs: checks that end the job, patterns to fill buffers,
//! random numbers.
//!
//! Every program here is plain MPI: it passes if every rank returns 0, under any implementation.
#pragma once

#include <mpi.h>

#ifdef SORREL_MPI_H
/// Programs expect it of <mpi.h> alone, which others' headers do not all provide.
typedef size_t size_of_mpi_header;
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GNUC__
#define MAY_BE_UNUSED __attribute__((unused))
#else
#define MAY_BE_UNUSED
#endif

/// Ends the job, naming the rank and the two values, unless they are equal.
#define CHECK_EQUAL(value, expected) \
  check_equal((long long)(value), (long long)(expected), #value, #expected, __FILE__, __LINE__)

/// Ends the job unless the condition holds.
#define CHECK(condition) check_equal((condition) ? 1 : 0, 1, #condition, "true", __FILE__, __LINE__)

MAY_BE_UNUSED static int rank_in(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

MAY_BE_UNUSED static int size_of(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}

MAY_BE_UNUSED static void check_equal(long long value,
                                      long long expected,
                                      const char* value_text,
                                      const char* expected_text,
                                      const char* file,
                                      int line) {
  if (value == expected) return;
  fprintf(stderr, "%s:%d: rank %d: %s is %lld, expected %s = %lld\n", file, line,
          rank_in(MPI_COMM_WORLD), value_text, value, expected_text, expected);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// splitmix64: enough for tests, the same everywhere.
MAY_BE_UNUSED static uint64_t random_next(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

MAY_BE_UNUSED static int random_below(uint64_t* state, int bound) {
  return (int)(random_next(state) % (uint64_t)bound);
}

/// The seed of a random test: SORREL_SEED, or the given one; rank 0 prints it.
MAY_BE_UNUSED static uint64_t random_seed(uint64_t fallback) {
  const char* text = getenv("SORREL_SEED");
  const uint64_t seed = text == NULL ? fallback : strtoull(text, NULL, 10);
  if (rank_in(MPI_COMM_WORLD) == 0) printf("SORREL_SEED=%llu\n", (unsigned long long)seed);
  return seed;
}

/// Byte i of the pattern that `key` selects.
MAY_BE_UNUSED static unsigned char pattern_byte(uint64_t key, size_t i) {
  return (unsigned char)((key * 0x9e3779b1u + i * 31u + (i >> 8) * 17u) >> 3);
}

MAY_BE_UNUSED static void pattern_fill(void* buffer, size_t bytes, uint64_t key) {
  unsigned char* at = (unsigned char*)buffer;
  for (size_t i = 0; i < bytes; i++)
    at[i] = pattern_byte(key, i);
}

/// The first byte that differs from the pattern; -1 if none does.
MAY_BE_UNUSED static long long pattern_difference(const void* buffer, size_t bytes, uint64_t key) {
  const unsigned char* at = (const unsigned char*)buffer;
  for (size_t i = 0; i < bytes; i++) {
    if (at[i] != pattern_byte(key, i)) return (long long)i;
  }
  return -1;
}

#define CHECK_PATTERN(buffer, bytes, key) CHECK_EQUAL(pattern_difference(buffer, bytes, key), -1)
