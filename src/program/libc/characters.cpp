//! mbtowc, mblen, mbrtowc, mbrtoc16 and similar functions: the state of a character that is begun,
//! where the caller gives none, is the rank's.
//!
//! No encoding of a locale has shift states, so wctomb(), wcrtomb() and similar functions keep
//! nothing.

#include <cstdlib>
#include <cuchar>
#include <cwchar>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

/// The state that a function uses: `given`, or the rank's instead of the C library's.
std::mbstate_t* state_of(Conversion conversion, std::mbstate_t* given) {
  RankProcess* process = given == nullptr ? current_rank_process() : nullptr;
  return process == nullptr ? given : &process->libc_state().character_state(conversion);
}

/// As mbtowc() and, with a null `wide`, mblen(), for the rank whose state it is.
int length_of_character(wchar_t* wide, const char* text, std::size_t bytes, std::mbstate_t& state) {
  if (text == nullptr) {
    state = {};
    return 0;
  }
  if (bytes == 0) return -1;
  const std::size_t length = ::mbrtowc(wide, text, bytes, &state);
  return length > bytes ? -1 : static_cast<int>(length);
}

}  // namespace

SORREL_INTERPOSED int mbtowc(wchar_t* wide, const char* text, std::size_t bytes) noexcept {
  static auto* const real = next_definition<decltype(::mbtowc)>("mbtowc");
  std::mbstate_t* state = state_of(Conversion::mbtowc, nullptr);
  return state == nullptr ? real(wide, text, bytes)
                          : length_of_character(wide, text, bytes, *state);
}

SORREL_INTERPOSED int mblen(const char* text, std::size_t bytes) noexcept {
  static auto* const real = next_definition<decltype(::mblen)>("mblen");
  std::mbstate_t* state = state_of(Conversion::mblen, nullptr);
  return state == nullptr ? real(text, bytes) : length_of_character(nullptr, text, bytes, *state);
}

SORREL_INTERPOSED std::size_t mbrtowc(wchar_t* wide,
                                      const char* text,
                                      std::size_t bytes,
                                      std::mbstate_t* state) noexcept {
  static auto* const real = next_definition<decltype(::mbrtowc)>("mbrtowc");
  return real(wide, text, bytes, state_of(Conversion::mbrtowc, state));
}

SORREL_INTERPOSED std::size_t mbrlen(const char* text,
                                     std::size_t bytes,
                                     std::mbstate_t* state) noexcept {
  static auto* const real = next_definition<decltype(::mbrlen)>("mbrlen");
  return real(text, bytes, state_of(Conversion::mbrlen, state));
}

// Called by programs that were compiled with optimisation.
SORREL_INTERPOSED std::size_t __mbrlen(const char* text,
                                       std::size_t bytes,
                                       std::mbstate_t* state) noexcept {
  return ::mbrlen(text, bytes, state);
}

SORREL_INTERPOSED std::size_t mbsrtowcs(wchar_t* wide,
                                        const char** text,
                                        std::size_t room,
                                        std::mbstate_t* state) noexcept {
  static auto* const real = next_definition<decltype(::mbsrtowcs)>("mbsrtowcs");
  return real(wide, text, room, state_of(Conversion::mbsrtowcs, state));
}

SORREL_INTERPOSED std::size_t mbsnrtowcs(wchar_t* wide,
                                         const char** text,
                                         std::size_t bytes,
                                         std::size_t room,
                                         std::mbstate_t* state) noexcept {
  static auto* const real = next_definition<decltype(::mbsnrtowcs)>("mbsnrtowcs");
  return real(wide, text, bytes, room, state_of(Conversion::mbsnrtowcs, state));
}

// Called by programs that were compiled with _FORTIFY_SOURCE.
SORREL_INTERPOSED std::size_t __mbsrtowcs_chk(wchar_t* wide,
                                              const char** text,
                                              std::size_t room,
                                              std::mbstate_t* state,
                                              std::size_t object) noexcept {
  using Checked = std::size_t(wchar_t*, const char**, std::size_t, std::mbstate_t*, std::size_t);
  static auto* const real = next_definition<Checked>("__mbsrtowcs_chk");
  return real(wide, text, room, state_of(Conversion::mbsrtowcs, state), object);
}

SORREL_INTERPOSED std::size_t __mbsnrtowcs_chk(wchar_t* wide,
                                               const char** text,
                                               std::size_t bytes,
                                               std::size_t room,
                                               std::mbstate_t* state,
                                               std::size_t object) noexcept {
  using Checked =
      std::size_t(wchar_t*, const char**, std::size_t, std::size_t, std::mbstate_t*, std::size_t);
  static auto* const real = next_definition<Checked>("__mbsnrtowcs_chk");
  return real(wide, text, bytes, room, state_of(Conversion::mbsnrtowcs, state), object);
}

// glibc has those of UTF-8 since 2.36.
#define SORREL_UNICODE(type, into, from)                                                           \
  SORREL_INTERPOSED std::size_t into(type* character, const char* text, std::size_t bytes,         \
                                     std::mbstate_t* state) noexcept {                             \
    using Into = std::size_t(type*, const char*, std::size_t, std::mbstate_t*);                    \
    static auto* const real = next_definition<Into>(#into);                                        \
    return real(character, text, bytes, state_of(Conversion::into, state));                        \
  }                                                                                                \
  SORREL_INTERPOSED std::size_t from(char* text, type character, std::mbstate_t* state) noexcept { \
    using From = std::size_t(char*, type, std::mbstate_t*);                                        \
    static auto* const real = next_definition<From>(#from);                                        \
    return real(text, character, state_of(Conversion::from, state));                               \
  }

SORREL_UNICODE(char8_t, mbrtoc8, c8rtomb)
SORREL_UNICODE(char16_t, mbrtoc16, c16rtomb)
SORREL_UNICODE(char32_t, mbrtoc32, c32rtomb)
