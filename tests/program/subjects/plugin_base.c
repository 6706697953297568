/* A library that a plug-in needs: its state begins in its constructor. */
#include <dlfcn.h>

void host_note(const char* what);

int base_count = 5;
static int* const base_address = &base_count;
static int started;

__attribute__((constructor)) static void start(void) {
  started = 1;
  base_count = 10;
  host_note("base begins");
}

__attribute__((destructor)) static void stop(void) {
  host_note("base ends");
}

int base_next(void) {
  return started ? ++*base_address : -1;
}
