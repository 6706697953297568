/* Opens the CUDA driver as NVIDIA's runtime does: dlopen, then cuGetProcAddress for every function.
 */
#pragma once

#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cuda_driver.h"

#define CUDA_FUNCTIONS(X)                                                                    \
  X(cuInit, (unsigned))                                                                      \
  X(cuDeviceGet, (CUdevice*, int))                                                           \
  X(cuDeviceGetCount, (int*))                                                                \
  X(cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                        \
  X(cuDevicePrimaryCtxRelease, (CUdevice))                                                   \
  X(cuDevicePrimaryCtxReset, (CUdevice))                                                     \
  X(cuCtxCreate, (CUcontext*, unsigned, CUdevice))                                           \
  X(cuCtxDestroy, (CUcontext))                                                               \
  X(cuCtxSetCurrent, (CUcontext))                                                            \
  X(cuCtxGetCurrent, (CUcontext*))                                                           \
  X(cuCtxPushCurrent, (CUcontext))                                                           \
  X(cuCtxPopCurrent, (CUcontext*))                                                           \
  X(cuCtxGetDevice, (CUdevice*))                                                             \
  X(cuCtxSynchronize, (void))                                                                \
  X(cuStreamCreate, (CUstream*, unsigned))                                                   \
  X(cuStreamDestroy, (CUstream))                                                             \
  X(cuStreamQuery, (CUstream))                                                               \
  X(cuStreamSynchronize, (CUstream))                                                         \
  X(cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                        \
  X(cuStreamGetFlags, (CUstream, unsigned*))                                                 \
  X(cuEventCreate, (CUevent*, unsigned))                                                     \
  X(cuEventDestroy, (CUevent))                                                               \
  X(cuEventRecord, (CUevent, CUstream))                                                      \
  X(cuEventQuery, (CUevent))                                                                 \
  X(cuEventSynchronize, (CUevent))                                                           \
  X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     unsigned, CUstream, void**, void**))                                    \
  X(cuLaunchKernelEx, (const CUlaunchConfig*, CUfunction, void**, void**))                   \
  X(cuLaunchHostFunc, (CUstream, CUhostFn, void*))                                           \
  X(cuMemAlloc, (CUdeviceptr*, size_t))                                                      \
  X(cuMemAllocPitch, (CUdeviceptr*, size_t*, size_t, size_t, unsigned))                      \
  X(cuMemAllocManaged, (CUdeviceptr*, size_t, unsigned))                                     \
  X(cuMemAllocAsync, (CUdeviceptr*, size_t, CUstream))                                       \
  X(cuMemFree, (CUdeviceptr))                                                                \
  X(cuMemFreeAsync, (CUdeviceptr, CUstream))                                                 \
  X(cuMemAddressReserve, (CUdeviceptr*, size_t, size_t, CUdeviceptr, unsigned long long))    \
  X(cuMemAddressFree, (CUdeviceptr, size_t))                                                 \
  X(cuMemMap, (CUdeviceptr, size_t, size_t, unsigned long long, unsigned long long))         \
  X(cuMemUnmap, (CUdeviceptr, size_t))                                                       \
  X(cuMemHostAlloc, (void**, size_t, unsigned))                                              \
  X(cuMemFreeHost, (void*))                                                                  \
  X(cuMemHostRegister, (void*, size_t, unsigned))                                            \
  X(cuMemHostUnregister, (void*))                                                            \
  X(cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                             \
  X(cuMemcpyHtoD, (CUdeviceptr, const void*, size_t))                                        \
  X(cuMemcpyDtoH, (void*, CUdeviceptr, size_t))                                              \
  X(cuMemcpyDtoD, (CUdeviceptr, CUdeviceptr, size_t))                                        \
  X(cuMemcpyHtoDAsync, (CUdeviceptr, const void*, size_t, CUstream))                         \
  X(cuMemcpyDtoHAsync, (void*, CUdeviceptr, size_t, CUstream))                               \
  X(cuMemcpy2D, (const CUDA_MEMCPY2D*))                                                      \
  X(cuMemsetD8, (CUdeviceptr, unsigned char, size_t))                                        \
  X(cuMemsetD32, (CUdeviceptr, unsigned, size_t))

#define DECLARE(name, parameters) CUresult(*name) parameters;

static struct {
  CUDA_FUNCTIONS(DECLARE)
  CUfunction (*kernel)(fake_cuda_body*, int, unsigned);
  void* (*host)(CUdeviceptr);
  long (*count)(enum fake_cuda_counted);
} cuda;

#undef DECLARE

static int rank_number, rank_count;

__attribute__((noreturn, format(printf, 2, 3))) static void fail(int line,
                                                                 const char* format,
                                                                 ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "rank %d, line %d: ", rank_number, line);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(1);
}

#define REQUIRE(condition)                              \
  do {                                                  \
    if (!(condition)) fail(__LINE__, "%s", #condition); \
  } while (0)
#define CHECK(call)                                                              \
  do {                                                                           \
    const CUresult result_ = (call);                                             \
    if (result_ != CUDA_SUCCESS) fail(__LINE__, "%s: error %d", #call, result_); \
  } while (0)

/* What a stream handle of 0 means is the choice of the compiler of a CUDA program: `flags` of
 * cuGetProcAddress. */
static void open_cuda(uint64_t flags) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_number);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) fail(__LINE__, "%s", dlerror());
  CUresult (*get)(const char*, void**, int, uint64_t, int*);
  *(void**)&get = dlsym(library, "cuGetProcAddress_v2");
  REQUIRE(get != NULL);
#define LOOK_UP(name, parameters) CHECK(get(#name, (void**)&cuda.name, 13000, flags, NULL));
  CUDA_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  *(void**)&cuda.kernel = dlsym(library, "fake_cuda_kernel");
  *(void**)&cuda.host = dlsym(library, "fake_cuda_host");
  *(void**)&cuda.count = dlsym(library, "fake_cuda_count");
  REQUIRE(cuda.kernel != NULL && cuda.host != NULL && cuda.count != NULL);
}

/* The primary context of a device becomes current, as at the first call of the runtime. */
static inline CUcontext use_device(int ordinal) {
  CUdevice device;
  CUcontext context;
  CHECK(cuda.cuInit(0));
  CHECK(cuda.cuDeviceGet(&device, ordinal));
  CHECK(cuda.cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuda.cuCtxSetCurrent(context));
  return context;
}

static inline CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr address;
  CHECK(cuda.cuMemAlloc(&address, bytes));
  return address;
}

static inline void launch(CUfunction kernel, CUstream stream, void** parameters) {
  CHECK(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
