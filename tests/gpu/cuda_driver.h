/* The part of the CUDA driver's interface that the tests use: types, constants and prototypes under
 * the names of the library's symbols. For programs that open libcuda.so.1 as NVIDIA's runtime does,
 * and for the library that takes its place (fake_cuda). No header of CUDA is needed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct fake_context* CUcontext;
typedef struct fake_stream* CUstream;
typedef struct fake_event* CUevent;
typedef struct fake_kernel* CUfunction;
typedef struct fake_module* CUmodule;

enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_NOT_SUPPORTED = 801,
};

enum { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 };

enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2, CU_MEMORYTYPE_UNIFIED = 4 };

enum {
  CU_POINTER_ATTRIBUTE_CONTEXT = 1,
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8
};

/* Stream handles that name the calling thread's default streams. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

/* Flags of cuGetProcAddress. */
enum {
  CU_GET_PROC_ADDRESS_DEFAULT = 0,
  CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
  CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2
};

typedef struct {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  void* srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  int dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  void* dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  void* attrs;
  unsigned numAttrs;
} CUlaunchConfig;

typedef void (*CUhostFn)(void* data);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void* data);

/* What fake_cuda has beside the driver's functions. A kernel is a function of the host that gets
 * its arguments, of 8 bytes each, on a thread of the stream, after a delay. It reaches device
 * memory by fake_cuda_host(): device addresses cannot be read or written by the host. */
typedef void fake_cuda_body(const uint64_t* arguments);
CUfunction fake_cuda_kernel(fake_cuda_body* body, int argument_count, unsigned delay_us);
void* fake_cuda_host(CUdeviceptr address);

enum fake_cuda_counted {
  FAKE_CUDA_BLOCKING_WAITS, /* calls in which a thread has slept until work was done */
  FAKE_CUDA_LEGACY_OPS,     /* operations in the legacy default stream */
  FAKE_CUDA_QUERIES,
  FAKE_CUDA_HOST_FUNCTIONS,
  FAKE_CUDA_LIVE_BYTES,      /* of device memory */
  FAKE_CUDA_LIVE_HOST_BYTES, /* of pinned memory, registered included */
  FAKE_CUDA_LIVE_STREAMS,
  FAKE_CUDA_RESETS,
  FAKE_CUDA_DEVICE_COPIES, /* from device memory to device memory */
  FAKE_CUDA_HOST_COPIES,   /* from device memory to memory of the host */
  FAKE_CUDA_COUNTS
};

long fake_cuda_count(enum fake_cuda_counted what);

#ifdef __cplusplus
}
#endif
