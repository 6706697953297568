#include "core/thread_block.hpp"

#include <locale.h>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "os/thread_pointer.hpp"

namespace sorrel::core {

namespace {

// The donor's thread calls nothing but use_locale().
constexpr std::size_t stack_bytes = 16 * 1024;

void use_locale(void* locale) {
  ::uselocale(static_cast<locale_t>(locale));
}

}  // namespace

void change_block(std::uintptr_t thread_pointer) {
  if (os::can_write_thread_pointer()) {
    arch::set_thread_pointer(thread_pointer);
  } else {
    os::set_thread_pointer(thread_pointer);
  }
}

std::unique_ptr<SpareBlock> SpareBlock::make() {
  if (!os::claim_blocks(os::BlockUse::exchanged)) return nullptr;
  std::unique_ptr<SpareBlock> made(new SpareBlock);
  if (!made->donor_.start(stack_bytes, use_locale, ::uselocale(nullptr))) return nullptr;
  return made;
}

void SpareBlock::enter() {
  SORREL_ASSERT(own_ == 0, "a thread has entered the block already");
  own_ = arch::thread_pointer();
  change_block(donor_.thread_pointer());
}

void SpareBlock::leave() const {
  SORREL_ASSERT(arch::thread_pointer() == donor_.thread_pointer(), "a thread has left the block");
  change_block(own_);
}

}  // namespace sorrel::core
