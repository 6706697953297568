#include "program/threads/thread_block.hpp"

#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
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
  static const auto next = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  return next;
}

}  // namespace

struct ThreadBlockSlab::Parked {
  const PrivatizedImage copy;
  Prepare prepare;
  void* argument;
  pthread_t thread{};
  std::uintptr_t thread_pointer = 0;
  sem_t is_ready{};
  sem_t may_end{};

  static void* run(void* self) {
    auto* parked = static_cast<Parked*>(self);
    fill_thread_locals(parked->copy);
    parked->prepare(parked->argument);
    parked->thread_pointer = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    ::sem_post(&parked->is_ready);
    // From here on errno belongs to the fiber and must not change. Only an interrupted wait would
    // set it, and all signals are blocked.
    while (::sem_wait(&parked->may_end) != 0) {
    }
    return nullptr;
  }
};

ThreadBlockSlab::ThreadBlockSlab(int count, const os::AddressBand& band)
    : parked_(static_cast<std::size_t>(count)) {
  if (count == 0) return;
  const std::size_t page_bytes = os::page_bytes();
  const std::size_t needed = parked_stack_bytes + os::thread_local_bytes(iterate_files());
  block_bytes_ = (needed + page_bytes - 1) / page_bytes * page_bytes;
  const std::uintptr_t place = band.place(parked_.size(), block_bytes_, 0);
  blocks_ = os::map_memory(place, block_bytes_ * parked_.size(), PROT_READ | PROT_WRITE,
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
  auto parked =
      std::unique_ptr<Parked>(new Parked{.copy = copy, .prepare = prepare, .argument = argument});
  ::sem_init(&parked->is_ready, 0, 0);
  ::sem_init(&parked->may_end, 0, 0);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstack(&attributes, static_cast<std::byte*>(blocks_) + place * block_bytes_,
                          block_bytes_);
  // Signals are received by the workers only.
  sigset_t all;
  sigset_t previous;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &previous);
  const int error = ::pthread_create(&parked->thread, &attributes, Parked::run, parked.get());
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) return 0;
  while (::sem_wait(&parked->is_ready) != 0) {
  }
  parked_[place] = std::move(parked);
  return parked_[place]->thread_pointer;
}

std::uintptr_t ThreadBlockSlab::created(int index) const {
  const auto& parked = parked_[static_cast<std::size_t>(index)];
  return parked == nullptr ? 0 : parked->thread_pointer;
}

ThreadBlockSlab::~ThreadBlockSlab() {
  for (const std::unique_ptr<Parked>& parked : parked_) {
    if (parked == nullptr) continue;
    ::sem_post(&parked->may_end);
    ::pthread_join(parked->thread, nullptr);
    ::sem_destroy(&parked->is_ready);
    ::sem_destroy(&parked->may_end);
  }
  if (blocks_ != nullptr) ::munmap(blocks_, block_bytes_ * parked_.size());
}

}  // namespace sorrel::program
