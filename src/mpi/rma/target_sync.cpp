#include "mpi/rma/target_sync.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "mpi/net/packet_words.hpp"

namespace sorrel::mpi {

namespace {

/// Tells origins that they have the lock. A remote one's waiter is on the heap.
void grant(const Win& target, LockWaiter* waiter) {
  while (waiter != nullptr) {
    LockWaiter* next = waiter->next;
    if (waiter->here != nullptr) {
      wake(*waiter->here);
    } else {
      // From the worker that has released the lock, whichever it is.
      const World& world = *target.owner->world;
      SendQueue& send_queue = *world.state_of(*core::Worker::current()).send_queue;
      post_ack(send_queue, waiter->from, waiter->token, MPI_SUCCESS);
      delete waiter;
    }
    waiter = next;
  }
}

}  // namespace

bool lock_or_wait(Win& target, LockWaiter& waiter) {
  target.sync_lock.lock();
  const bool is_taken = target.lock_queue.try_acquire(waiter.is_exclusive, waiter.origin);
  if (!is_taken) target.lock_queue.add(waiter);
  target.sync_lock.unlock();
  return is_taken;
}

void lock_for_remote(
    Win& target, bool is_exclusive, std::int32_t origin, Endpoint from, std::uint64_t token) {
  auto waiter = std::make_unique<LockWaiter>();
  waiter->is_exclusive = is_exclusive;
  waiter->origin = origin;
  waiter->from = from;
  waiter->token = token;
  if (lock_or_wait(target, *waiter)) {
    grant(target, waiter.release());
  } else {
    // The queue holds it.
    (void)waiter.release();
  }
}

void release_lock(Win& target) {
  target.sync_lock.lock();
  LockWaiter* granted = target.lock_queue.release();
  target.sync_lock.unlock();
  grant(target, granted);
}

void record_post(Win& origin, std::int32_t poster) {
  origin.sync_lock.lock();
  if (origin.posts.empty()) origin.posts.resize(static_cast<std::size_t>(origin.size()));
  Win::Post& post = origin.posts[static_cast<std::size_t>(poster)];
  WinWait* ended = nullptr;
  if (post == Win::Post::awaited) {
    post = Win::Post::none;
    if (--origin.missing_post_count == 0) ended = origin.start_wait;
  } else {
    SORREL_ASSERT(post == Win::Post::none, "rank %d has posted twice", poster);
    post = Win::Post::posted;
  }
  origin.sync_lock.unlock();
  if (ended != nullptr) wake(*ended);
}

bool take_posts(Win& origin, const std::vector<std::int32_t>& group, WinWait& wait) {
  origin.sync_lock.lock();
  if (origin.posts.empty()) origin.posts.resize(static_cast<std::size_t>(origin.size()));
  for (const std::int32_t member : group) {
    Win::Post& post = origin.posts[static_cast<std::size_t>(member)];
    if (post == Win::Post::posted) {
      post = Win::Post::none;
    } else {
      post = Win::Post::awaited;
      ++origin.missing_post_count;
    }
  }
  const bool have_all = origin.missing_post_count == 0;
  origin.start_wait = have_all ? nullptr : &wait;
  origin.sync_lock.unlock();
  return have_all;
}

void record_complete(Win& target) {
  target.sync_lock.lock();
  SORREL_ASSERT(target.missing_complete_count > 0, "an origin completes an epoch twice");
  WinWait* ended = --target.missing_complete_count == 0 ? target.exposure_wait : nullptr;
  target.sync_lock.unlock();
  if (ended != nullptr) wake(*ended);
}

void record_failure(Win& target, std::int32_t origin, int error) {
  target.sync_lock.lock();
  const auto same = [&](const FailedOperation& failed) { return failed.origin == origin; };
  if (std::ranges::none_of(target.failed_operations, same))
    target.failed_operations.push_back({.origin = origin, .error = error});
  target.sync_lock.unlock();
}

int take_failure(Win& target, std::int32_t origin) {
  int error = MPI_SUCCESS;
  target.sync_lock.lock();
  std::erase_if(target.failed_operations, [&](const FailedOperation& failed) {
    if (failed.origin != origin) return false;
    error = failed.error;
    return true;
  });
  target.sync_lock.unlock();
  return error;
}

void post_ack(SendQueue& send_queue, Endpoint to, std::uint64_t token, int error) {
  send_queue.post(
      to,
      {.kind = number_of(PacketKind::rma_ack),
       .words = {low_word(token), high_word(token), static_cast<std::uint32_t>(error), 0}},
      0);
}

void compare_and_swap_in(SpinLock& lock,
                         std::byte* address,
                         const SwapValues& values,
                         std::size_t bytes) {
  std::array<std::byte, 32> old;
  SORREL_ASSERT(bytes <= old.size());
  lock.lock();
  std::memcpy(old.data(), address, bytes);
  if (std::memcmp(address, values.compare, bytes) == 0) std::memcpy(address, values.origin, bytes);
  lock.unlock();
  std::memcpy(values.result, old.data(), bytes);
}

}  // namespace sorrel::mpi
