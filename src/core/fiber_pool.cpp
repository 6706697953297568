#include "core/fiber_pool.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace sorrel::core {

namespace {

constexpr std::size_t slab_stack_count = 8;

}  // namespace

FiberPool::FiberPool(Worker& worker, std::size_t stack_bytes)
    : worker_(worker), stack_bytes_(stack_bytes) {}

FiberPool::~FiberPool() {
  for (const auto& member : members_)
    member->fiber.sanitizer.destroy();
}

bool FiberPool::run(const Fiber& owner, FiberEntry task, void* argument) {
  SORREL_ASSERT(&worker_ == Worker::current() && worker_.in_fiber());
  if (idle_ == nullptr && !grow()) return false;
  Member& member = *idle_;
  idle_ = member.next_idle;
  member.owner = &owner;
  member.task = task;
  member.argument = argument;
  member.fiber.user = owner.user;
  // The control block of a fiber that has moved out is in use on its thread.
  member.fiber.thread_pointer = owner.is_guest ? 0 : owner.thread_pointer;
  member.fiber.settings = owner.is_guest ? nullptr : owner.settings;
  worker_.run_at_once(member.fiber);
  return true;
}

void FiberPool::run_tasks(void* argument) {
  Member& self = *static_cast<Member*>(argument);
  FiberPool& pool = *self.pool;
  for (;;) {
    self.task(self.argument);
    self.owner = nullptr;
    self.next_idle = pool.idle_;
    pool.idle_ = &self;
    // No other fiber runs before this one waits.
    pool.worker_.suspend();
  }
}

bool FiberPool::has_task_of(const Fiber& owner) const {
  return std::ranges::any_of(members_, [&](const auto& member) { return member->owner == &owner; });
}

bool FiberPool::grow() {
  auto slab = std::make_unique<os::StackSlab>(slab_stack_count, stack_bytes_);
  if (!slab->is_valid()) return false;
  for (std::size_t i = 0; i < slab_stack_count; ++i) {
    auto member = std::make_unique<Member>();
    member->pool = this;
    // Frames of the library lie below what it runs.
    member->fiber.pin_count = 1;
    member->fiber.goes_first = true;
    member->next_idle = idle_;
    worker_.prepare(member->fiber, slab->bottom(i), slab->usable_bytes(i), run_tasks, member.get());
    idle_ = member.get();
    members_.push_back(std::move(member));
  }
  slabs_.push_back(std::move(slab));
  return true;
}

std::optional<FiberPool::Stack> FiberPool::stack_of(const Fiber& fiber) const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (&members_[i]->fiber == &fiber)
      return Stack{.slab = slabs_[i / slab_stack_count].get(), .index = i % slab_stack_count};
  }
  return std::nullopt;
}

}  // namespace sorrel::core
