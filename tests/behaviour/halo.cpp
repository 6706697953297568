// A library with state: each rank has its own instance. With HALO_IS_STATELESS, ranks that open it
// may share it.
#include <mpi.h>

namespace halo {

#ifdef HALO_IS_STATELESS
constexpr int call_count = 0;
#else
int call_count = 0;
#endif

[[gnu::noinline]] static void receive(int peer) {
  int value = call_count;
  MPI_Recv(&value, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

[[gnu::noinline]] static void spoil(volatile int* target) {
  *target = call_count;
}

}  // namespace halo

extern "C" void halo_wait(int peer) {
  halo::receive(peer);
}

extern "C" void halo_crash() {
  halo::spoil(nullptr);
}
