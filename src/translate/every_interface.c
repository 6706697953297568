/* An interpreter gets the libraries of every interface when it starts: a module with an RPATH to
 * another MPI, as conda's have, then finds these, which are loaded under the names that it needs.
 * No other code binds to them (RTLD_LOCAL). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char* const names[] = {"libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12",
                                    "libmpi.so.40", "libmpi_cxx.so.40"};

/* Whether a rank may have modules for several interfaces. */
int sorrel_has_every_interface __attribute__((visibility("hidden")));

__attribute__((constructor)) static void open_every_interface(void) {
  /* `sorrel run` puts these folders first for interpreters, and for no other program. */
  static const char folder[] = "/translate/standard:";
  const char* const path = getenv("LD_LIBRARY_PATH");
  const char* const first_end = path == NULL ? NULL : strchr(path, ':');
  const size_t length = sizeof folder - 1;
  if (first_end == NULL || (size_t)(first_end + 1 - path) < length ||
      strncmp(first_end + 1 - length, folder, length) != 0)
    return;
  sorrel_has_every_interface = 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    (void)dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
}
