#include "program/threads/thread_block.hpp"

#include <cerrno>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "os/thread_locals.hpp"
#include "program/base/libc.hpp"
#include "program/image/thread_image.hpp"

namespace sorrel::program {

namespace {

// Stack of a parked thread beside the thread-locals.
constexpr std::size_t parked_stack_bytes = 16 * 1024;

/// The loader's own function, not the interposed one that shows a rank its privatized image.
os::IterateFiles iterate_files() {
  static const auto next = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  return next;
}

}  // namespace

struct ThreadBlock::Parked {
  const PrivatizedImage& copy;
  Prepare prepare;
  void* argument;
  pthread_t thread{};
  std::uintptr_t thread_pointer = 0;
  sem_t is_ready{};
  sem_t may_end{};

  static void* run(void* self) {
    auto* parked = static_cast<Parked*>(self);
    fill_thread_locals(parked->copy);
    if (parked->prepare != nullptr) parked->prepare(parked->argument);
    parked->thread_pointer = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    ::sem_post(&parked->is_ready);
    // From here on errno belongs to the fiber and must not change. Only an interrupted wait would
    // set it, and all signals are blocked.
    while (::sem_wait(&parked->may_end) != 0) {
    }
    return nullptr;
  }
};

std::unique_ptr<ThreadBlock> ThreadBlock::create(const PrivatizedImage& copy,
                                                 Prepare prepare,
                                                 void* argument) {
  auto parked =
      std::unique_ptr<Parked>(new Parked{.copy = copy, .prepare = prepare, .argument = argument});
  ::sem_init(&parked->is_ready, 0, 0);
  ::sem_init(&parked->may_end, 0, 0);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes,
                              parked_stack_bytes + os::thread_local_bytes(iterate_files()));
  // Signals are received by the workers only.
  sigset_t all;
  sigset_t previous;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &previous);
  const int error = ::pthread_create(&parked->thread, &attributes, Parked::run, parked.get());
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  while (::sem_wait(&parked->is_ready) != 0) {
  }
  return std::unique_ptr<ThreadBlock>(new ThreadBlock(std::move(parked)));
}

ThreadBlock::ThreadBlock(std::unique_ptr<Parked> parked)
    : parked_(std::move(parked)), thread_pointer_(parked_->thread_pointer) {}

ThreadBlock::~ThreadBlock() {
  ::sem_post(&parked_->may_end);
  ::pthread_join(parked_->thread, nullptr);
  ::sem_destroy(&parked_->is_ready);
  ::sem_destroy(&parked_->may_end);
}

}  // namespace sorrel::program
