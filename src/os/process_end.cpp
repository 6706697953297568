#include "os/process_end.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace sorrel::os {

void end_process(int status) {
  for (;;)
    syscall(SYS_exit_group, status);
}

}  // namespace sorrel::os
