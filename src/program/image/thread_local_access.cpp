#include "program/image/thread_local_access.hpp"

#include <cstdint>
#include <cstring>

#include "base/check.hpp"
#include "program/image/image_slab.hpp"

extern "C" void* __tls_get_addr(void* index);

namespace sorrel::program {

namespace {

/// Corrects one pointer of the block at `block`, which was filled from the template image.
void correct(std::byte* block, const PrivatizedImage& copy, Offset offset) {
  const Module& module = copy.image().executable();
  const ElfW(Phdr)& segment = *module.thread_local_segment;
  if (offset - segment.p_vaddr >= segment.p_filesz) return;
  SORREL_ASSERT(offset - segment.p_vaddr + sizeof(std::uintptr_t) <= segment.p_memsz,
                "a pointer at 0x%zx reaches behind the thread-locals", offset);
  std::byte* place = block + (offset - segment.p_vaddr);
  const auto* in_template = reinterpret_cast<const std::byte*>(module.base + offset);
  if (std::memcmp(place, in_template, sizeof(std::uintptr_t)) == 0)
    std::memcpy(place, copy.at<const std::byte>(offset), sizeof(std::uintptr_t));
}

void correct(std::byte* block, const PrivatizedImage& copy) {
  for (const Slot& slot : copy.image().slots)
    correct(block, copy, slot.offset);
  for (const OutsideSlot& slot : copy.image().outside_slots)
    correct(block, copy, slot.offset);
}

}  // namespace

void* thread_local_address(ThreadLocalIndex* index) {
  auto* variable = static_cast<std::byte*>(__tls_get_addr(index));
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  int rank_index = -1;
  for (const ImageSlab* slab : private_slabs()) {
    if (rank_index < 0) rank_index = slab->index_of(caller);
  }
  for (const ImageSlab* slab : private_slabs()) {
    if (rank_index >= 0 && slab->thread_local_module == index->module)
      correct(variable - index->offset, slab->copy(rank_index));
  }
  return variable;
}

}  // namespace sorrel::program
