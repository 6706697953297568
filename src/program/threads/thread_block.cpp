#include "program/threads/thread_block.hpp"

#include <link.h>
#include <sys/mman.h>

#include "os/page_bytes.hpp"
#include "os/thread_locals.hpp"
#include "program/base/libc.hpp"
#include "program/image/thread_image.hpp"

namespace sorrel::program {

namespace {

// The part of a parked thread's stack that is not its thread-locals.
constexpr std::size_t parked_stack_bytes = 16 * 1024;

/// The loader's own function, not the interposed one that shows a rank its privatized image.
os::IterateFiles iterate_files() {
  static const auto real = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  return real;
}

}  // namespace

ThreadBlockSlab::ThreadBlockSlab(int count, const os::AddressBand& band)
    : donors_(static_cast<std::size_t>(count)) {
  if (count == 0) return;
  const std::size_t page_bytes = os::page_bytes();
  const std::size_t needed = parked_stack_bytes + os::thread_local_bytes(iterate_files());
  block_bytes_ = (needed + page_bytes - 1) / page_bytes * page_bytes;
  const std::uintptr_t place = band.place(donors_.size(), block_bytes_, 0);
  blocks_ = os::map_memory(place, block_bytes_ * donors_.size(), PROT_READ | PROT_WRITE,
                           MAP_NORESERVE | MAP_STACK);
  is_in_band_ = reinterpret_cast<std::uintptr_t>(blocks_) == place;
  if (blocks_ == MAP_FAILED) blocks_ = nullptr;
}

std::uintptr_t ThreadBlockSlab::create(int index,
                                       const PrivatizedImage& copy,
                                       Prepare prepare,
                                       void* argument) {
  if (blocks_ == nullptr) return 0;
  const auto place = static_cast<std::size_t>(index);

  struct Start {
    const PrivatizedImage& copy;
    Prepare prepare;
    void* argument;
  } start{copy, prepare, argument};

  const auto fill_and_prepare = [](void* given) {
    const auto& first = *static_cast<const Start*>(given);
    fill_thread_locals(first.copy);
    first.prepare(first.argument);
  };
  auto donor = std::make_unique<os::TlsDonor>();
  void* block = static_cast<std::byte*>(blocks_) + place * block_bytes_;
  if (!donor->start_in(block, block_bytes_, fill_and_prepare, &start)) return 0;
  donors_[place] = std::move(donor);
  return donors_[place]->thread_pointer();
}

std::uintptr_t ThreadBlockSlab::created(int index) const {
  const auto& donor = donors_[static_cast<std::size_t>(index)];
  return donor == nullptr ? 0 : donor->thread_pointer();
}

void ThreadBlockSlab::end(int index) {
  const auto place = static_cast<std::size_t>(index);
  if (place < donors_.size()) donors_[place].reset();
}

ThreadBlockSlab::~ThreadBlockSlab() {
  const std::size_t bytes = block_bytes_ * donors_.size();
  donors_.clear();
  if (blocks_ != nullptr) ::munmap(blocks_, bytes);
}

}  // namespace sorrel::program
