#include "os/random_addresses.hpp"

#include <sys/personality.h>

namespace sorrel::os {

bool has_random_addresses() {
  constexpr unsigned long query = 0xffffffff;
  return (personality(query) & ADDR_NO_RANDOMIZE) == 0;
}

}  // namespace sorrel::os
