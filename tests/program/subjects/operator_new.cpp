// A program replaces operator new: the C++ library of the same rank calls it.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <new>
#include <sstream>

namespace {
int calls;
}

void* operator new(std::size_t bytes) {
  ++calls;
  if (void* taken = std::malloc(bytes)) return taken;
  throw std::bad_alloc();
}

void operator delete(void* taken) noexcept {
  std::free(taken);
}

void operator delete(void* taken, std::size_t /*bytes*/) noexcept {
  std::free(taken);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  calls = 0;
  std::ostringstream text;
  // The library's own code allocates.
  for (int i = 0; i < 100; ++i)
    text << "a text that grows " << rank;
  if (calls > 0 && calls < 100) std::printf("operator new of rank %d is its own\n", rank);
  MPI_Finalize();
  return 0;
}
