/* Functions beyond the MPI standard that Sorrel shares with other implementations. */
#ifndef MPI_EXT_H_INCLUDED
#define MPI_EXT_H_INCLUDED

#ifdef __cplusplus
extern "C" {
#endif

/* Buffers of calls may be in the memory of GPUs, if MPIX_Query_cuda_support() is not 0. */
#define MPIX_CUDA_AWARE_SUPPORT 1

/* 1 if a CUDA driver is there, so that buffers may be in the memory of its devices; else 0. */
int MPIX_Query_cuda_support(void);

#ifdef __cplusplus
}
#endif

#endif
