#include "program/state/exit_handlers.hpp"

#include <iterator>

#include "base/check.hpp"
#include "program/base/program_calls.hpp"

namespace sorrel::program {

/// The last one of a module, or of all if `owner` is null.
bool ExitHandlers::take_last(Handlers& handlers, const void* owner, Handler& taken) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(
      handlers.rbegin(), handlers.rend(),
      [owner](const Handler& handler) { return owner == nullptr || handler.owner == owner; });
  if (found == handlers.rend()) return false;
  taken = *found;
  handlers.erase(std::next(found).base());
  return true;
}

void ExitHandlers::call(const Handler& handler, int status) {
  if (handler.at_exit != nullptr) {
    call_program(handler.at_exit, handler.argument);
  } else {
    SORREL_ASSERT(handler.on_exit != nullptr, "a handler without a function");
    call_program(handler.on_exit, status, handler.argument);
  }
}

void ExitHandlers::run(Handlers& handlers, int status) {
  Handler handler{};
  while (take_last(handlers, nullptr, handler))
    call(handler, status);
}

void ExitHandlers::run(int status) {
  run(thread_local_, status);
  run(at_exit_, status);
}

void ExitHandlers::save(ByteWriter& to) {
  const std::lock_guard lock(mutex_);
  for (const Handlers* handlers : {&at_exit_, &quick_, &thread_local_}) {
    to.add(std::uint64_t{handlers->size()});
    for (const Handler& handler : *handlers)
      to.add(handler);
  }
}

void ExitHandlers::restore(ByteCursor& from) {
  const std::lock_guard lock(mutex_);
  for (Handlers* handlers : {&at_exit_, &quick_, &thread_local_}) {
    handlers->clear();
    for (auto left = from.take<std::uint64_t>(); left > 0 && from.is_good(); --left)
      handlers->push_back(from.take<Handler>());
  }
}

void ExitHandlers::run_quick() {
  run(quick_, 0);
}

void ExitHandlers::run_of(const void* owner) {
  Handler handler{};
  while (take_last(at_exit_, owner, handler))
    call(handler, 0);
  const std::lock_guard lock(mutex_);
  std::erase_if(quick_, [owner](const Handler& quick) { return quick.owner == owner; });
}

}  // namespace sorrel::program
