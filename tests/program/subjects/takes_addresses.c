// takes_addresses: a preloaded library that uses the addresses where stacks of ranks begin.
#include <sys/mman.h>

__attribute__((constructor)) static void take(void) {
  (void)!mmap((void*)(16ul << 40), 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
              0);
}
