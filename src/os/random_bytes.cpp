#include "os/random_bytes.hpp"

#include <sys/random.h>
#include <sys/types.h>

namespace sorrel::os {

bool fill_random(void* to, std::size_t bytes) {
  return ::getrandom(to, bytes, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace sorrel::os
