/* The loader's look-ups return results for the rank's own image. Linked with -rdynamic. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int exported = 3;

int exported_function(void) {
  return exported;
}

static int holds(const struct dl_phdr_info* info, const void* address) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    uintptr_t distance = (uintptr_t)address - info->dlpi_addr - segment->p_vaddr;
    if (segment->p_type == PT_LOAD && distance < segment->p_memsz) return 1;
  }
  return 0;
}

static int first_entry(struct dl_phdr_info* info, size_t size, void* result) {
  (void)size;
  *(int*)result = holds(info, &exported);
  return 1;
}

static int count_entries(struct dl_phdr_info* info, size_t size, void* result) {
  (void)size;
  *(int*)result += holds(info, &exported);
  return 0;
}

static void require(int condition, const char* what, int rank) {
  if (condition) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  exit(1);
}

int main(int argc, char** argv) {
  int rank, found = 0;
  Dl_info info;
  void* frames[20];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exported += rank;
  require(dladdr((void*)main, &info) != 0 && strstr(info.dli_fname, "lookup") != NULL,
          "dladdr knows no name", rank);
  require(info.dli_saddr == (void*)main && strcmp(info.dli_sname, "main") == 0,
          "dladdr knows no symbol", rank);
  require(dlsym(RTLD_DEFAULT, "exported") == &exported, "dlsym finds another image's variable",
          rank);
  int (*function)(void) = (int (*)(void))dlsym(dlopen(NULL, RTLD_NOW), "exported_function");
  require(function() == 3 + rank, "dlsym finds another image's function", rank);
  require(dlsym(RTLD_NEXT, "MPI_Init") != NULL && dlsym(RTLD_NEXT, "strlen") != NULL,
          "RTLD_NEXT finds nothing", rank);
  dl_iterate_phdr(first_entry, &found);
  require(found, "the first image is not this rank's", rank);
  found = 0;
  dl_iterate_phdr(count_entries, &found);
  require(found == 1, "this image is not listed once", rank);
  require(backtrace(frames, 20) >= 2, "there is no back trace", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("look-ups are right\n");
  MPI_Finalize();
  return 0;
}
