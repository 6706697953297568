//! SharedValues - immutable objects that equal keys share, each kept while anything refers to it.
//!
//! Any thread. Objects of one table live in static storage: ends with the process, not before.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace sorrel::program {

template <class Key, class Value>
class SharedValues {
 public:
  /// The object of `key`: the present one, or else the result of make(), a std::unique_ptr.
  template <class Make>
  std::shared_ptr<const Value> find_or_make(const Key& key, Make&& make) {
    const std::scoped_lock lock(mutex_);
    std::weak_ptr<const Value>& entry = values_[key];
    std::shared_ptr<const Value> found = entry.lock();
    if (found != nullptr) return found;
    const auto remove = [this, key](const Value* value) {
      forget(key);
      delete value;
    };
    found = std::shared_ptr<const Value>(make().release(), remove);
    entry = found;
    return found;
  }

 private:
  void forget(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = values_.find(key);
    // Another object of this key may have been made since.
    if (found != values_.end() && found->second.expired()) values_.erase(found);
  }

  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Value>> values_;
};

}  // namespace sorrel::program
