//! TlsDonor - a thread of the C library that sleeps while a fiber uses its thread control block
//! (thread pointer), its thread-locals, and its stack below the sleeping frames.
//!
//! Only the C library creates control blocks, and it has a record of each. So dynamic
//! thread-locals, pthread_self(), pthread_getattr_np() and keys work in the fiber. Signals are
//! blocked in the sleeping thread, so nothing else uses the stack. Cost: 10 to 15 us, and the used
//! pages of the stack.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace sorrel::os {

class TlsDonor {
 public:
  using Prepare = void (*)(void* argument);

  TlsDonor() = default;
  TlsDonor(const TlsDonor&) = delete;
  TlsDonor& operator=(const TlsDonor&) = delete;

  /// Ends the thread and waits for its end: no fiber uses the block any more. The destructors of
  /// the program's thread-locals run on it.
  ~TlsDonor();

  /// Before the destructor: `last` runs on the thread as it ends, with the argument of start().
  void set_last(Prepare last) { last_ = last; }

  /// Once. `prepare` runs first on the new thread, with its thread-locals. `stack_bytes` excludes
  /// the thread-locals, and a guard is below; 0: the system's default. Returns false if the system
  /// allows no more threads. Any thread.
  [[nodiscard]] bool start(std::size_t stack_bytes, Prepare prepare, void* argument);

  /// start() in memory of the caller, which holds the stack, the control block and the
  /// thread-locals, without a guard.
  [[nodiscard]] bool start_in(void* memory, std::size_t bytes, Prepare prepare, void* argument);

  /// While no fiber uses the block elsewhere: runs `function` on the donor's thread, with the
  /// argument of start() and with signals blocked. The thread sleeps again after its return.
  void call(Prepare function);

  /// The signals that were blocked in the thread that called start().
  [[nodiscard]] const sigset_t& signals() const { return signals_; }

  /// Another thread's instead, before the donor is used.
  void set_signals(const sigset_t& signals) { signals_ = signals; }

  [[nodiscard]] std::uintptr_t thread_pointer() const { return thread_pointer_; }

  [[nodiscard]] std::byte* stack_bottom() const { return stack_bottom_; }

  [[nodiscard]] std::size_t stack_bytes() const { return stack_bytes_; }

 private:
  enum State : std::uint32_t { starting, asleep, calling, ending };

  static void* run(void* self);
  [[nodiscard]] bool create(pthread_attr_t& attributes, Prepare prepare, void* argument);
  void sleep();

  Prepare prepare_ = nullptr;
  Prepare last_ = nullptr;
  Prepare called_ = nullptr;
  void* argument_ = nullptr;
  pthread_t thread_{};
  sigset_t signals_{};
  std::uintptr_t thread_pointer_ = 0;
  std::byte* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  std::atomic<std::uint32_t> state_{starting};
};

}  // namespace sorrel::os
