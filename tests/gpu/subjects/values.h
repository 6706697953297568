/* Rows of doubles in the memory of a device: written, read, checked. */
#pragma once

#include "driver.h"

enum { host_length = 300000 };

/* What get() returns. */
static double host[host_length];

static inline void* at(CUdeviceptr address) {
  return (void*)address;
}

static inline void put(CUdeviceptr to, const double* values, int count) {
  CHECK(cuda.cuMemcpyHtoD(to, values, (size_t)count * sizeof(double)));
}

static inline const double* get(CUdeviceptr from, int count) {
  CHECK(cuda.cuMemcpyDtoH(host, from, (size_t)count * sizeof(double)));
  return host;
}

/* values[i] = base + i. */
static inline void put_row(CUdeviceptr to, double base, int count) {
  for (int i = 0; i < count; ++i)
    host[i] = base + i;
  put(to, host, count);
}

static inline void check_values(int line, const double* values, double base, int count) {
  for (int i = 0; i < count; ++i) {
    if (values[i] != base + i) fail(line, "value %d is %g, not %g", i, values[i], base + i);
  }
}

#define CHECK_HOST(values, base, count) check_values(__LINE__, values, base, count)
#define CHECK_ROW(at, base, count) check_values(__LINE__, get(at, count), base, count)
