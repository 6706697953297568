/* In the runtime: whether calls of a translation may be jumps to the standard's functions, which
 * then return the codes of the translation's interface; and that there is a translation. */
#include "mpi/base/returned_codes.h"

#include <stddef.h>

#include "standard_functions.h"

/* In every_interface.c. */
extern int sorrel_has_every_interface __attribute__((visibility("hidden")));

static char is_translated;

int sorrel_is_translated_program(void) {
  return __atomic_load_n(&is_translated, __ATOMIC_RELAXED);
}

__attribute__((visibility("default"))) void sorrel_announce_translation(void) {
  __atomic_store_n(&is_translated, 1, __ATOMIC_RELAXED);
}

/* `functions` are those that the translation calls: a library that observes calls has others. In an
 * interpreter a rank may have modules for several interfaces. */
__attribute__((visibility("default"))) int sorrel_announce_codes(
    const struct sorrel_standard_functions* functions, int (*code_of)(int)) {
  const int is_accepted =
      code_of != NULL && functions == &sorrel_runtime_functions && !sorrel_has_every_interface;
  sorrel_set_returned_codes(is_accepted ? code_of : NULL);
  return is_accepted;
}
