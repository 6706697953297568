// What the programs for a real device share.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <mpi.h>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t error_ = (call);                                                           \
    if (error_ != cudaSuccess) {                                                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

#define REQUIRE(condition)                                                \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)
