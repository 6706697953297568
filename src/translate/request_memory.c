/* In the runtime: a memory for requests alone, so that a request has a number of 28 bits. Only
 * addresses, until requests are made. */
#include "mpi/base/request_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { memory_bytes_log2 = 31 };

static void* memory;

/* Before any request is made. `sorrel run` names this folder for programs that may need it. */
__attribute__((constructor)) static void reserve(void) {
  const char* const path = getenv("LD_LIBRARY_PATH");
  if (path == NULL || strstr(path, "/translate/mpich") == NULL) return;
  const size_t bytes = (size_t)1 << memory_bytes_log2;
  void* const found =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return;
  memory = found;
  sorrel_use_request_memory(found, bytes);
}

__attribute__((visibility("default"))) void* sorrel_request_memory(unsigned place_bytes,
                                                                   unsigned* place_count) {
  *place_count = memory == NULL ? 0 : (1u << memory_bytes_log2) / place_bytes;
  return memory;
}
