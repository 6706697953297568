#include "program/rank/lent_mask.hpp"

#include "base/check.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program {

namespace {

void exchange_mask(const sigset_t& mask, sigset_t* before) {
  static auto* const real = next_definition<decltype(::pthread_sigmask)>("pthread_sigmask");
  const int error = real(SIG_SETMASK, &mask, before);
  SORREL_ASSERT(error == 0, "the thread's mask stays: error %d", error);
}

}  // namespace

LentMask::LentMask() {
  RankProcess* process = current_rank_process();
  if (process == nullptr || is_forked_child() || process->signals().blocked() == 0) return;
  exchange_mask(set_of(process->signals().blocked()), &of_thread_);
  is_lent_ = true;
}

LentMask::~LentMask() {
  if (is_lent_) exchange_mask(of_thread_, nullptr);
}

}  // namespace sorrel::program
