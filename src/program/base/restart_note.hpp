//! restart_note - what this process leaves for `sorrel run` about a restart of its job.
#pragma once

#include "launch/restart_note.hpp"

namespace sorrel::program {

/// The note of this process's job; null: the job is not started again. Set before any rank runs.
inline launch::RestartNote* restart_note = nullptr;

/// If the job may be started again.
inline void note_effect(const char* reason) {
  if (restart_note != nullptr) restart_note->add_effect(reason);
}

inline void note_own_signal(int number) {
  if (restart_note != nullptr) restart_note->add_own_signal(number);
}

}  // namespace sorrel::program
