// halo_user wait|crash [LIBRARY]: every rank waits in a library's function, or rank 5 crashes
// there. With LIBRARY, opens that one and calls the functions of it.
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <mpi.h>

extern "C" void halo_wait(int peer);
extern "C" void halo_crash();

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void* library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : nullptr;
  if (argc > 2 && library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 9);
  }
  auto wait = halo_wait;
  auto crash = halo_crash;
  if (library != nullptr) {
    wait = reinterpret_cast<void (*)(int)>(dlsym(library, "halo_wait"));
    crash = reinterpret_cast<void (*)()>(dlsym(library, "halo_crash"));
  }
  if (std::strcmp(argv[1], "wait") == 0) wait((rank + 1) % size);
  if (rank == 5) crash();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
