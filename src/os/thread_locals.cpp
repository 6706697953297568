#include "os/thread_locals.hpp"

namespace sorrel::os {

namespace {

int add(dl_phdr_info* info, std::size_t, void* bytes) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    // The C library rounds up to the alignment: the bytes of each file, their sum, the sum with the
    // control block, and the end of the stack.
    if (segment.p_type == PT_TLS)
      *static_cast<std::size_t*>(bytes) += segment.p_memsz + 4 * segment.p_align;
  }
  return 0;
}

}  // namespace

std::size_t thread_local_bytes(IterateFiles iterate) {
  std::size_t bytes = 0;
  iterate(add, &bytes);
  return bytes;
}

}  // namespace sorrel::os
