//! tzset, localtime, mktime, strftime and related functions: the time zone that a rank has set, its
//! results, and its timezone, daylight and tzname. The names of zones in them go along with a rank.
//!
//! The C library has one time zone. It reads TZ in each of these calls, during which the rank's
//! environment is installed.

#include <ctime>
#include <cwchar>
#include <optional>

#include "program/base/libc.hpp"
#include "program/rank/current_environment.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

template <class T>
void copy_to(const PrivatizedImage& copy, T& live) {
  T* own = copy.own(live);
  if (own != nullptr && own != &live) __builtin_memcpy(own, &live, sizeof live);
}

/// In a rank that may be saved or move: `name`, which lies in memory of the C library, in the
/// rank's own.
char* kept(RankProcess& process, char* name) {
  if (!RankProcess::are_saved() || name == nullptr) return name;
  char* own = process.libc_state().kept_zone_name(name);
  return own != nullptr ? own : name;
}

/// The names of the rank's zone, for its tzname.
void keep_names(RankProcess& process) {
  auto* own = process.copy().own(__tzname);
  if (own == nullptr || own == &__tzname) return;
  for (char*& name : *own)
    name = kept(process, name);
}

/// The name of the zone in a result of the C library.
void keep_name(tm* time) {
  RankProcess* process = current_rank_process();
  if (process == nullptr || time == nullptr) return;
  for (const char* name : __tzname) {
    if (time->tm_zone == name) time->tm_zone = kept(*process, const_cast<char*>(name));
  }
}

/// Returns the result of `call`, which the C library makes with the calling rank's time zone.
template <class Call>
auto in_zone_of_rank(Call&& call) {
  static auto* const real_set_zone = next_definition<decltype(::tzset)>("tzset");
  RankProcess* process = current_rank_process();
  std::optional<ScopedEnvironment> lent;
  // The ranks' variables at start do not concern time zones.
  if (process != nullptr && Environment::is_any_changed()) {
    lent.emplace();
    // Re-entrant functions read TZ only once.
    real_set_zone();
  }
  auto result = call();
  if (process != nullptr) {
    copy_to(process->copy(), __timezone);
    copy_to(process->copy(), __daylight);
    copy_to(process->copy(), __tzname);
    keep_names(*process);
  }
  return result;
}

tm* local_time(const time_t* time) {
  static auto* const real = next_definition<decltype(::localtime)>("localtime");
  static auto* const real_into = next_definition<decltype(::localtime_r)>("localtime_r");
  static auto* const real_set_zone = next_definition<decltype(::tzset)>("tzset");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(time);
  return in_zone_of_rank([&] {
    real_set_zone();
    return real_into(time, &process->libc_state().time_results().broken_down);
  });
}

tm* local_time_into(const time_t* time, tm* result) {
  static auto* const real = next_definition<decltype(::localtime_r)>("localtime_r");
  return in_zone_of_rank([&] {
    tm* made = real(time, result);
    keep_name(made);
    return made;
  });
}

char* time_text(const tm* time) {
  static auto* const real = next_definition<decltype(::asctime)>("asctime");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(time);
  return ::asctime_r(time, process->libc_state().time_results().text);
}

}  // namespace

SORREL_INTERPOSED void tzset() noexcept {
  static auto* const real = next_definition<decltype(::tzset)>("tzset");
  (void)in_zone_of_rank([] {
    real();
    return 0;
  });
}

SORREL_INTERPOSED tm* localtime(const time_t* time) noexcept {
  return local_time(time);
}

SORREL_INTERPOSED tm* localtime_r(const time_t* time, tm* result) noexcept {
  return local_time_into(time, result);
}

SORREL_INTERPOSED tm* gmtime(const time_t* time) noexcept {
  static auto* const real = next_definition<decltype(::gmtime)>("gmtime");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(time);
  return ::gmtime_r(time, &process->libc_state().time_results().broken_down);
}

SORREL_INTERPOSED char* asctime(const tm* time) noexcept {
  return time_text(time);
}

SORREL_INTERPOSED char* ctime(const time_t* time) noexcept {
  const tm* parts = local_time(time);
  return parts == nullptr ? nullptr : time_text(parts);
}

SORREL_INTERPOSED char* ctime_r(const time_t* time, char* text) noexcept {
  static auto* const real = next_definition<decltype(::ctime_r)>("ctime_r");
  return in_zone_of_rank([&] { return real(time, text); });
}

SORREL_INTERPOSED time_t mktime(tm* time) noexcept {
  static auto* const real = next_definition<decltype(::mktime)>("mktime");
  return in_zone_of_rank([&] {
    const time_t seconds = real(time);
    keep_name(time);
    return seconds;
  });
}

SORREL_INTERPOSED_AS(mktime) time_t timelocal(tm* time) noexcept;

// %s and %Z use the time zone.
SORREL_INTERPOSED char* strptime(const char* text, const char* format, tm* time) noexcept {
  static auto* const real = next_definition<decltype(::strptime)>("strptime");
  return in_zone_of_rank([&] {
    char* end = real(text, format, time);
    keep_name(time);
    return end;
  });
}

SORREL_INTERPOSED char* strptime_l(const char* text,
                                   const char* format,
                                   tm* time,
                                   locale_t locale) noexcept {
  static auto* const real = next_definition<decltype(::strptime_l)>("strptime_l");
  return in_zone_of_rank([&] {
    char* end = real(text, format, time, locale);
    keep_name(time);
    return end;
  });
}

SORREL_INTERPOSED size_t strftime(char* text,
                                  size_t room,
                                  const char* format,
                                  const tm* time) noexcept {
  static auto* const real = next_definition<decltype(::strftime)>("strftime");
  return in_zone_of_rank([&] { return real(text, room, format, time); });
}

SORREL_INTERPOSED size_t
strftime_l(char* text, size_t room, const char* format, const tm* time, locale_t locale) noexcept {
  static auto* const real = next_definition<decltype(::strftime_l)>("strftime_l");
  return in_zone_of_rank([&] { return real(text, room, format, time, locale); });
}

SORREL_INTERPOSED size_t wcsftime(wchar_t* text,
                                  size_t room,
                                  const wchar_t* format,
                                  const tm* time) noexcept {
  static auto* const real = next_definition<decltype(::wcsftime)>("wcsftime");
  return in_zone_of_rank([&] { return real(text, room, format, time); });
}

SORREL_INTERPOSED tm* getdate(const char* text) {
  static auto* const real = next_definition<decltype(::getdate)>("getdate");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(text);
  tm& result = process->libc_state().time_results().date;
  const int error = in_zone_of_rank([&] { return ::getdate_r(text, &result); });
  if (error == 0) return &result;
  if (int* own = process->copy().own(getdate_err)) *own = error;
  return nullptr;
}
