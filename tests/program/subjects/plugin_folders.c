/* Each rank opens a file of its own by a name that all ranks use, in a folder of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void require(int condition, const char* what) {
  if (condition) return;
  printf("%s\n", what);
  exit(1);
}

/* plugin_folders FOLDER-OF-EVEN-RANKS FOLDER-OF-ODD-RANKS NAME */
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(chdir(argv[1 + rank % 2]) == 0, "no folder");
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen(argv[3], RTLD_NOW);
    if (library == NULL) {
      printf("rank %d may not: %s\n", rank, dlerror());
      break;
    }
    int (*folder)(void) = (int (*)(void))dlsym(library, "plugin_folder");
    int (*count)(void) = (int (*)(void))dlsym(library, "plugin_count");
    int is_own = folder() == rank % 2 && count() == 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!is_own || round == 2)
      printf("rank %d opens the file %s\n", rank, is_own ? "of its folder" : "of another rank");
    if (!is_own) break;
    dlclose(library);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
