// A library of which ranks cannot have private instances, by -D: its own malloc, or code that the
// loader changes.
#include <stddef.h>

int unfit_counter = 1;

#ifdef OWN_MALLOC
static char memory[1 << 20];
static size_t used;

void* malloc(size_t bytes) {
  void* taken = memory + used;
  used += (bytes + 15) / 16 * 16;
  return used <= sizeof memory ? taken : NULL;
}

void free(void* taken) {
  (void)taken;
}
#endif

#ifdef TEXT_RELOCATION
__asm__(".text\n.quad unfit_counter\n");
#endif

int unfit(void) {
  return unfit_counter++;
}
