// allocate SECONDS - time of malloc and free of one block, of three sizes; the first byte of each
// block is written.
//
// Under MPIs whose ranks are processes: the C library's.
#include "probe.h"

static void pairs(size_t bytes, int count) {
  // The compiler must not leave pairs out.
  void* (*volatile allocate)(size_t) = malloc;
  void (*volatile release)(void*) = free;
  for (int i = 0; i < count; i++) {
    char* block = allocate(bytes);
    *(volatile char*)block = 1;
    release(block);
  }
}

static void pairs_64(void* state, int count) {
  (void)state;
  pairs(64, count);
}

static void pairs_4096(void* state, int count) {
  (void)state;
  pairs(4096, count);
}

static void pairs_1048576(void* state, int count) {
  (void)state;
  pairs(1048576, count);
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  probe_series(&p, "64", 1e9, "ns", pairs_64, NULL);
  probe_series(&p, "4096", 1e9, "ns", pairs_4096, NULL);
  probe_series(&p, "1048576", 1e9, "ns", pairs_1048576, NULL);
  probe_end();
  return 0;
}
