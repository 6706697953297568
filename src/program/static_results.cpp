//! strtok, localtime, gmtime, ctime, asctime: their static places, one per rank, through the C
//! library's re-entrant functions.

#include <cstring>
#include <ctime>

#include "program/libc.hpp"
#include "program/rank_process.hpp"

using namespace sorrel::program;

namespace {

tm* local_time(const time_t* time) {
  static auto* const real = next_definition<decltype(::localtime)>("localtime");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(time);
  ::tzset();
  return ::localtime_r(time, &process->libc_state().time_results().broken_down);
}

char* time_text(const tm* time) {
  static auto* const real = next_definition<decltype(::asctime)>("asctime");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(time);
  return ::asctime_r(time, process->libc_state().time_results().text);
}

}  // namespace

SORREL_INTERPOSED char* strtok(char* text, const char* delimiters) noexcept {
  static auto* const real = next_definition<char*(char*, const char*)>("strtok");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(text, delimiters);
  return ::strtok_r(text, delimiters, &process->libc_state().strtok_position());
}

SORREL_INTERPOSED tm* localtime(const time_t* time) noexcept {
  return local_time(time);
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
  return time_text(local_time(time));
}
