//! UnsavedState - what a rank has from the C library or the system that no checkpoint holds:
//! objects that refer to memory or threads of the process, and changes that cannot be undone.
//!
//! Any thread of the rank.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

namespace sorrel::program {

class UnsavedState {
 public:
  /// `reason`: for a user, a constant. An object that is added twice is there until it is removed
  /// twice.
  void add(const void* object, const char* reason) {
    const std::scoped_lock lock(mutex_);
    things_.push_back({object, reason});
  }

  void remove(const void* object) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(things_, object, &Thing::object);
    if (found != things_.end()) things_.erase(found);
  }

  /// What stays until the rank ends.
  void add_for_good(const char* reason) {
    const std::scoped_lock lock(mutex_);
    for_good_ = reason;
  }

  /// Null: the rank has nothing of this kind.
  [[nodiscard]] const char* reason_not_saved() const {
    const std::scoped_lock lock(mutex_);
    return things_.empty() ? for_good_ : things_.front().reason;
  }

 private:
  struct Thing {
    const void* object;
    const char* reason;
  };

  mutable std::mutex mutex_;
  std::vector<Thing> things_;
  const char* for_good_ = nullptr;
};

}  // namespace sorrel::program
