/* A rank's instance of a library costs the pages that hold pointers, or that the rank writes: the
   kernel says which pages are private. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pages_library.h"

static int pagemap;

/* Pages of memory between the two addresses that are this process's own. */
static long private_pages(uintptr_t begin, uintptr_t end) {
  const uint64_t present = UINT64_C(1) << 63, swapped = UINT64_C(1) << 62, file = UINT64_C(1) << 61;
  const uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  long count = 0;
  for (uintptr_t page = begin / bytes; page < (end + bytes - 1) / bytes; ++page) {
    uint64_t entry = 0;
    if (pread(pagemap, &entry, sizeof entry, (off_t)(page * sizeof entry)) != sizeof entry) exit(1);
    count += (entry & (present | swapped)) != 0 && (entry & file) == 0;
  }
  return count;
}

static int count_library(struct dl_phdr_info* info, size_t size, void* result) {
  (void)size;
  if (strstr(info->dlpi_name, "libsubject_pages") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
    *(long*)result += private_pages(begin, begin + segment->p_memsz);
  }
  return 0;
}

static long pages_of_library(void) {
  long count = 0;
  dl_iterate_phdr(count_library, &count);
  return count;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pagemap = open("/proc/self/pagemap", O_RDONLY);
  long before = pages_of_library();
  /* Reading makes no page private. */
  long sum = 0;
  for (int i = 0; i < pages_bytes; i += pages_page_bytes)
    sum += pages_constants[i] + pages_initialised[i];
  long read = pages_of_library();
  for (int i = 0; i < 5; ++i)
    pages_of_pointers[7].pointer[(i + 10) * pages_page_bytes] = 1;
  for (int i = 0; i < 3; ++i)
    pages_initialised[(i + 10) * pages_page_bytes] = 1;
  long written = pages_of_library();
  /* Eight pages of pointers; the ends of the data; the loader's tables; the library's own lists. */
  if (sum == 2 && before >= 8 && before <= 14 && read == before && written == read + 8)
    printf("rank %d has only the pages that it needs\n", rank);
  else
    printf("rank %d: %ld pages, %ld when read, %ld when written\n", rank, before, read, written);
  MPI_Finalize();
  return 0;
}
