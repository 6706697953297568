// A library of which ranks cannot have private instances, by -D: its own malloc, its own free, or
// code that the loader changes.
#define _GNU_SOURCE
#include <dlfcn.h>
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

#ifdef OWN_FREE
static int freed;

void free(void* taken) {
  static void (*system_free)(void*);
  if (system_free == NULL) system_free = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  ++freed;
  system_free(taken);
}
#endif

#ifdef TEXT_RELOCATION
__asm__(".text\n.quad unfit_counter\n");
#endif

int unfit(void) {
  return unfit_counter++;
}
