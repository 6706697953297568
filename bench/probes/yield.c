// yield SECONDS - time of one yield among the ranks of one core.
//
// MPI has no such call; implementations whose ranks are user-level threads have one. Prints nothing
// under other implementations.
#include "probe.h"

#if __has_include(<sorrel.h>)
#include <sorrel.h>
#define YIELD() sorrel_yield()
#elif defined(AMPI)
#define YIELD() AMPI_Yield()
#endif

#ifdef YIELD
static void yields(void* state, int count) {
  (void)state;
  for (int i = 0; i < count; i++)
    YIELD();
}
#endif

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
#ifdef YIELD
  probe_series(&p, "yield", 1e9 / p.ranks, "ns", yields, NULL);
#else
  (void)p;
#endif
  probe_end();
  return 0;
}
