//! strtok, hsearch, inet_ntoa, ether_ntoa, ether_aton, tmpnam, l64a, ecvt, strerror, strsignal,
//! ttyname, ptsname: their static results, one per rank, through the C library's re-entrant
//! functions.

#include <arpa/inet.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/ether.h>
#include <search.h>
#include <unistd.h>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

[[nodiscard]] TextResults* texts_of_rank() {
  RankProcess* process = current_rank_process();
  return process != nullptr ? &process->libc_state().text_results() : nullptr;
}

/// The rank's digits, which `convert(text, bytes)` has made; "" if they do not fit. By `real`
/// outside of ranks.
template <class Real, class Convert>
char* digits_of(Real&& real, Convert&& convert) {
  TextResults* results = texts_of_rank();
  if (results == nullptr) return real();
  if (convert(results->digits, sizeof results->digits) != 0) results->digits[0] = '\0';
  return results->digits;
}

}  // namespace

SORREL_INTERPOSED char* strtok(char* text, const char* delimiters) noexcept {
  static auto* const real = next_definition<char*(char*, const char*)>("strtok");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(text, delimiters);
  return ::strtok_r(text, delimiters, &process->libc_state().strtok_position());
}

SORREL_INTERPOSED int hcreate(std::size_t count) noexcept {
  static auto* const real = next_definition<decltype(::hcreate)>("hcreate");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(count);
  return ::hcreate_r(count, &process->libc_state().search_table().data);
}

SORREL_INTERPOSED void hdestroy() noexcept {
  static auto* const real = next_definition<decltype(::hdestroy)>("hdestroy");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real();
  ::hdestroy_r(&process->libc_state().search_table().data);
}

SORREL_INTERPOSED ENTRY* hsearch(ENTRY entry, ACTION action) noexcept {
  static auto* const real = next_definition<decltype(::hsearch)>("hsearch");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(entry, action);
  ENTRY* found = nullptr;
  ::hsearch_r(entry, action, &found, &process->libc_state().search_table().data);
  return found;
}

SORREL_INTERPOSED char* inet_ntoa(in_addr address) noexcept {
  static auto* const real = next_definition<decltype(::inet_ntoa)>("inet_ntoa");
  TextResults* results = texts_of_rank();
  if (results == nullptr) return real(address);
  static_cast<void>(::inet_ntop(AF_INET, &address, results->address, sizeof results->address));
  return results->address;
}

SORREL_INTERPOSED char* tmpnam(char* name) noexcept {
  static auto* const real = next_definition<decltype(::tmpnam)>("tmpnam");
  TextResults* results = name != nullptr ? nullptr : texts_of_rank();
  return real(results == nullptr ? name : results->name);
}

SORREL_INTERPOSED char* ether_ntoa(const ether_addr* address) noexcept {
  static auto* const real = next_definition<decltype(::ether_ntoa)>("ether_ntoa");
  TextResults* results = texts_of_rank();
  return results == nullptr ? real(address) : ::ether_ntoa_r(address, results->card);
}

SORREL_INTERPOSED ether_addr* ether_aton(const char* text) noexcept {
  static auto* const real = next_definition<decltype(::ether_aton)>("ether_aton");
  TextResults* results = texts_of_rank();
  return results == nullptr ? real(text) : ::ether_aton_r(text, &results->card_address);
}

SORREL_INTERPOSED char* l64a(long number) noexcept {
  static auto* const real = next_definition<decltype(::l64a)>("l64a");
  TextResults* results = texts_of_rank();
  if (results == nullptr) return real(number);
  constexpr char digits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  char* text = results->base_64;
  // The low 32 bits, six at a time from the lowest.
  for (auto rest = static_cast<std::uint32_t>(number); rest != 0; rest >>= 6)
    *text++ = digits[rest & 63];
  *text = '\0';
  return results->base_64;
}

SORREL_INTERPOSED char* strerror(int number) noexcept {
  static auto* const real = next_definition<decltype(::strerror)>("strerror");
  const bool is_constant = ::strerrordesc_np(number) != nullptr;
  TextResults* results = is_constant ? nullptr : texts_of_rank();
  if (results == nullptr) return real(number);
  return ::strerror_r(number, results->error, sizeof results->error);
}

SORREL_INTERPOSED char* strsignal(int number) noexcept {
  static auto* const real = next_definition<decltype(::strsignal)>("strsignal");
  char* text = real(number);
  const bool is_constant = ::sigdescr_np(number) != nullptr;
  TextResults* results = is_constant ? nullptr : texts_of_rank();
  if (results == nullptr) return text;
  std::snprintf(results->signal, sizeof results->signal, "%s", text);
  return results->signal;
}

SORREL_INTERPOSED char* ttyname(int file) noexcept {
  static auto* const real = next_definition<decltype(::ttyname)>("ttyname");
  TextResults* results = texts_of_rank();
  if (results == nullptr) return real(file);
  const int error = ::ttyname_r(file, results->terminal, sizeof results->terminal);
  return error == 0 ? results->terminal : nullptr;
}

SORREL_INTERPOSED char* ptsname(int file) noexcept {
  static auto* const real = next_definition<decltype(::ptsname)>("ptsname");
  TextResults* results = texts_of_rank();
  if (results == nullptr) return real(file);
  const int error = ::ptsname_r(file, results->terminal, sizeof results->terminal);
  return error == 0 ? results->terminal : nullptr;
}

#define SORREL_DIGITS(name, Number)                                                       \
  SORREL_INTERPOSED char* name(Number value, int count, int* point, int* sign) noexcept { \
    static auto* const real = next_definition<decltype(::name)>(#name);                   \
    return digits_of([&] { return real(value, count, point, sign); },                     \
                     [&](char* text, std::size_t bytes) {                                 \
                       return ::name##_r(value, count, point, sign, text, bytes);         \
                     });                                                                  \
  }

SORREL_DIGITS(ecvt, double)
SORREL_DIGITS(fcvt, double)
SORREL_DIGITS(qecvt, long double)
SORREL_DIGITS(qfcvt, long double)
