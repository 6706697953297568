#define _GNU_SOURCE
#include "transport/host/plugin/host_functions.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct host_functions host_functions;

/* In the order of the struct. */
#define FUNCTION_NAME(name) "MPI_" #name,
#define OBJECT_NAME(name) #name,
static const char* const names[] = {SORREL_HOST_FUNCTIONS(FUNCTION_NAME)
                                        SORREL_HOST_HANDLES(OBJECT_NAME)};
_Static_assert(sizeof host_functions == sizeof names, "one name for each pointer");

int open_host_functions(const char* library, char* error, int error_bytes) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (handle == NULL) {
    snprintf(error, (size_t)error_bytes, "%s", dlerror());
    return 1;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    void* found = dlsym(handle, names[i]);
    if (found == NULL) {
      snprintf(error, (size_t)error_bytes, "%s has no %s", library, names[i]);
      return 1;
    }
    memcpy((char*)&host_functions + i * sizeof found, &found, sizeof found);
  }
  return 0;
}
