#include "program/state/thread_settings.hpp"

#include <tuple>

#include "program/state/shared_values.hpp"

namespace sorrel::program {

std::shared_ptr<const ThreadSettings> shared_settings(const ThreadSettings& settings) {
  using Key = std::tuple<const WorkingDirectory*, int, locale_t>;
  static auto& values = *new SharedValues<Key, ThreadSettings>;
  if (settings == ThreadSettings()) return nullptr;
  return values.find_or_make(Key(settings.directory.get(), settings.mask, settings.locale),
                             [&] { return std::make_unique<ThreadSettings>(settings); });
}

}  // namespace sorrel::program
