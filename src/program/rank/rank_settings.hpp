//! RankSettings - a rank's working directory, file mode mask and locale.
//!
//! Used by the rank alone, on its worker, except what is marked. A change holds at once for the
//! calling thread. The rank's fiber refers to the settings, so that its worker sets them at each
//! switch to the rank.
#pragma once

#include <atomic>
#include <clocale>
#include <memory>
#include <sys/types.h>

#include "program/state/rank_locale.hpp"
#include "program/state/thread_settings.hpp"

namespace sorrel::core {
struct Fiber;
}  // namespace sorrel::core

namespace sorrel::program {

class RankSettings {
 public:
  /// Before the rank runs; `fiber` is the rank's.
  void set_fiber(core::Fiber& fiber) { fiber_ = &fiber; }

  /// Directory and mask.
  [[nodiscard]] ThreadSettings files() const {
    return {.directory = with_used_locale_.directory, .mask = with_used_locale_.mask};
  }

  /// Before a change of directory or mask: gives the worker's thread its own. False if the system
  /// refuses it: the change then holds for the process.
  [[nodiscard]] bool separate_files();

  /// Makes the calling thread's directory that of the rank. False if it cannot be held open
  /// (errno); the thread then has the rank's previous one.
  [[nodiscard]] bool take_directory();

  /// Makes `mask`, which the calling thread has, that of the rank.
  void take_mask(mode_t mask);

  /// Any thread of the rank: what setlocale() has selected.
  [[nodiscard]] const RankLocale& global_locale() const;

  void set_global_locale(const RankLocale& locale);

  /// The locale that the calling thread of the rank has from use_locale(); null: the global one.
  [[nodiscard]] locale_t used_locale() const;

  /// The locale of the rank's fiber; null also if its thread control block holds the locale.
  [[nodiscard]] locale_t used_locale_of_fiber() const { return used_locale_; }

  /// Whether directory, mask or locale are not those of the process before any rank ran. Any
  /// thread, while the rank does not run.
  [[nodiscard]] bool are_changed() const;

  /// uselocale() for the calling thread of the rank; null: the global locale.
  void use_locale(locale_t locale);

 private:
  [[nodiscard]] bool has_own_block() const;
  [[nodiscard]] bool has_thread_the_locale() const;
  [[nodiscard]] ThreadSettings shared() const;
  void change(ThreadSettings settings);
  void install();

  core::Fiber* fiber_ = nullptr;
  /// With the global locale; null if nothing is changed.
  std::shared_ptr<const ThreadSettings> shared_;
  /// The settings with used_locale_; for the fiber while there is one.
  ThreadSettings with_used_locale_;
  /// Not of a rank whose thread control block holds it.
  locale_t used_locale_ = nullptr;
  /// For a rank whose thread control block holds it: whether the rank's fiber has a locale from
  /// use_locale(), and not that of "C".
  bool is_locale_in_block_ = false;
  // Relaxed: the objects are constant and stay.
  std::atomic<const RankLocale*> global_locale_{nullptr};
};

}  // namespace sorrel::program
