/*! sorrel_use_request_memory - where the requests of this process lie.
 *
 * A translation of an interface whose handles are integers (src/translate) computes the address of
 * a request from its integer. C and C++. */
#ifndef SORREL_MPI_BASE_REQUEST_MEMORY_H
#define SORREL_MPI_BASE_REQUEST_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros, until the end of the process. Once, before the first request is made. */
__attribute__((visibility("hidden"))) void sorrel_use_request_memory(void* memory, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
