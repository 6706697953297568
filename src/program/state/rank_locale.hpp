//! RankLocale - a locale that a rank has selected with setlocale(), as an object of the C library
//! that uselocale() accepts.
//!
//! Ranks with the same locale share one object. Objects are kept until the process ends, since
//! callers of setlocale() and nl_langinfo() hold pointers into them. Any thread.
#pragma once

#include <array>
#include <clocale>
#include <string>

namespace sorrel::program {

class RankLocale {
 public:
  /// The process's locale before any rank ran. First call before that.
  [[nodiscard]] static const RankLocale& initial();

  /// Whether all data of the locale are constants of the C library: that of "C".
  [[nodiscard]] static bool is_constant(locale_t locale);

  /// This locale with `category` (LC_ALL: all of them) as `name` says, or the environment for an
  /// empty name. Null if there is no such locale.
  [[nodiscard]] const RankLocale* with(int category, const char* name) const;

  [[nodiscard]] locale_t object() const { return object_; }

  /// What setlocale() answers. Null: no such category.
  [[nodiscard]] const char* name(int category) const;

  explicit RankLocale(locale_t object);
  RankLocale(const RankLocale&) = delete;
  RankLocale& operator=(const RankLocale&) = delete;

 private:
  const locale_t object_;
  std::string names_of_all_;
};

}  // namespace sorrel::program
