//! setlocale, uselocale, newlocale, duplocale, freelocale, localeconv: a rank's locale.
//!
//! What setlocale() selects is a locale object, which the rank's thread uses (uselocale) while the
//! rank runs: all functions of the C library follow it. The process's own locale follows every
//! change, for threads that belong to no rank: they see the last one.

#include <cerrno>
#include <clocale>
#include <mutex>

#include "program/base/libc.hpp"
#include "program/rank/current_environment.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"
#include "program/rank/worker_settings.hpp"

using namespace sorrel::program;

namespace {

std::mutex locale_mutex;

[[nodiscard]] RankProcess* rank_with_locale() {
  return WorkerSettings::are_ranks_separate() ? process_of_thread() : nullptr;
}

const RankLocale* locale_with(const RankLocale& before, int category, const char* name) {
  static auto* const real = next_definition<decltype(::setlocale)>("setlocale");
  if (before.name(category) == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  // An empty name refers to the environment.
  const ScopedEnvironment lent;
  const RankLocale* made = before.with(category, name);
  const std::scoped_lock lock(locale_mutex);
  if (made != nullptr) real(category, name);
  return made;
}

/// A locale that a call returning to `caller` has made: its data lie in files that the C library
/// has mapped.
locale_t noted(const void* caller, locale_t made) {
  RankProcess* process = made == nullptr ? nullptr : saved_process_of_caller(caller);
  if (process != nullptr && !RankLocale::is_constant(made))
    process->unsaved().add(made, "it has made a locale (newlocale)");
  return made;
}

void note_end(const void* caller, locale_t gone) {
  if (RankProcess* process = saved_process_of_caller(caller); process != nullptr)
    process->unsaved().remove(gone);
}

}  // namespace

SORREL_INTERPOSED char* setlocale(int category, const char* name) noexcept {
  static auto* const real = next_definition<decltype(::setlocale)>("setlocale");
  RankProcess* process = rank_with_locale();
  if (process == nullptr) return real(category, name);
  RankSettings& settings = process->settings();
  const RankLocale* locale = &settings.global_locale();
  if (name != nullptr) {
    locale = locale_with(*locale, category, name);
    if (locale == nullptr) return nullptr;
    settings.set_global_locale(*locale);
  }
  return const_cast<char*>(locale->name(category));
}

SORREL_INTERPOSED locale_t uselocale(locale_t locale) noexcept {
  static auto* const real = next_definition<decltype(::uselocale)>("uselocale");
  RankProcess* process = rank_with_locale();
  if (process == nullptr) return real(locale);
  RankSettings& settings = process->settings();
  const locale_t used = settings.used_locale();
  const locale_t previous = used != nullptr ? used : LC_GLOBAL_LOCALE;
  if (locale != nullptr && locale != previous)
    settings.use_locale(locale == LC_GLOBAL_LOCALE ? nullptr : locale);
  return previous;
}

SORREL_INTERPOSED_AS(uselocale) locale_t __uselocale(locale_t locale) noexcept;

SORREL_INTERPOSED locale_t duplocale(locale_t locale) noexcept {
  static auto* const real = next_definition<decltype(::duplocale)>("duplocale");
  RankProcess* process = locale == LC_GLOBAL_LOCALE ? rank_with_locale() : nullptr;
  return noted(__builtin_return_address(0),
               real(process == nullptr ? locale : process->settings().global_locale().object()));
}

SORREL_INTERPOSED_AS(duplocale) locale_t __duplocale(locale_t locale) noexcept;

SORREL_INTERPOSED locale_t newlocale(int mask, const char* name, locale_t base) noexcept {
  static auto* const real = next_definition<decltype(::newlocale)>("newlocale");
  const ScopedEnvironment lent;
  const locale_t made = real(mask, name, base);
  // It has changed `base`, or replaced it.
  if (made != nullptr && base != nullptr) note_end(__builtin_return_address(0), base);
  return noted(__builtin_return_address(0), made);
}

SORREL_INTERPOSED_AS(newlocale)
locale_t __newlocale(int mask, const char* name, locale_t base) noexcept;

SORREL_INTERPOSED void freelocale(locale_t locale) noexcept {
  static auto* const real = next_definition<decltype(::freelocale)>("freelocale");
  note_end(__builtin_return_address(0), locale);
  real(locale);
}

SORREL_INTERPOSED_AS(freelocale) void __freelocale(locale_t locale) noexcept;

SORREL_INTERPOSED lconv* localeconv() noexcept {
  static auto* const real = next_definition<decltype(::localeconv)>("localeconv");
  RankProcess* process = WorkerSettings::are_ranks_separate() ? current_rank_process() : nullptr;
  if (process == nullptr) return real();
  lconv& result = process->libc_state().number_format();
  const std::scoped_lock lock(locale_mutex);
  result = *real();
  return &result;
}
