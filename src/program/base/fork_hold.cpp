#include "program/base/fork_hold.hpp"

#include "base/check.hpp"
#include "program/base/libc.hpp"

namespace sorrel::program {

void hold_over_forks(void (*hold)(), void (*release)()) {
  using Register = int(void (*)(), void (*)(), void (*)(), void*);
  // The C library's own: the substitute distinguishes handlers of ranks by the caller.
  static auto* const real = next_definition<Register>("__register_atfork");
  const int error = real(hold, release, release, nullptr);
  SORREL_CHECK(error == 0, "no memory: children would find a lock that is never released");
}

}  // namespace sorrel::program
