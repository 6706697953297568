//! strtok, getpwnam, getpwuid, getgrnam, getgrgid, hsearch, inet_ntoa, tmpnam: their static
//! results, one per rank, through the C library's re-entrant functions.

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <search.h>
#include <vector>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

/// The entry of `key` in a table of accounts: by `real` outside of ranks, else by `look_up` into
/// the rank's results, with growing buffers until one suffices.
template <class Result, class Key>
Result* account_of(Result* (*real)(Key),
                   int (*look_up)(Key, Result*, char*, std::size_t, Result**),
                   Key key,
                   Result AccountResults::* result,
                   std::vector<char> AccountResults::* text_of_result) {
  constexpr std::size_t bytes_min = 1024;
  constexpr std::size_t bytes_max = std::size_t{1} << 20;
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(key);
  AccountResults& results = process->libc_state().account_results();
  std::vector<char>& text = results.*text_of_result;
  if (text.empty()) text.resize(bytes_min);
  Result* found = nullptr;
  int error = 0;
  while ((error = look_up(key, &(results.*result), text.data(), text.size(), &found)) == ERANGE &&
         text.size() < bytes_max)
    text.resize(2 * text.size());
  if (error != 0) errno = error;
  return found;
}

}  // namespace

SORREL_INTERPOSED char* strtok(char* text, const char* delimiters) noexcept {
  static auto* const real = next_definition<char*(char*, const char*)>("strtok");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(text, delimiters);
  return ::strtok_r(text, delimiters, &process->libc_state().strtok_position());
}

SORREL_INTERPOSED passwd* getpwnam(const char* name) {
  static auto* const real = next_definition<decltype(::getpwnam)>("getpwnam");
  return account_of(real, ::getpwnam_r, name, &AccountResults::user, &AccountResults::user_text);
}

SORREL_INTERPOSED passwd* getpwuid(uid_t number) {
  static auto* const real = next_definition<decltype(::getpwuid)>("getpwuid");
  return account_of(real, ::getpwuid_r, number, &AccountResults::user, &AccountResults::user_text);
}

SORREL_INTERPOSED group* getgrnam(const char* name) {
  static auto* const real = next_definition<decltype(::getgrnam)>("getgrnam");
  return account_of(real, ::getgrnam_r, name, &AccountResults::users, &AccountResults::users_text);
}

SORREL_INTERPOSED group* getgrgid(gid_t number) {
  static auto* const real = next_definition<decltype(::getgrgid)>("getgrgid");
  return account_of(real, ::getgrgid_r, number, &AccountResults::users,
                    &AccountResults::users_text);
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
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(address);
  TextResults& results = process->libc_state().text_results();
  static_cast<void>(::inet_ntop(AF_INET, &address, results.address, sizeof results.address));
  return results.address;
}

SORREL_INTERPOSED char* tmpnam(char* name) noexcept {
  static auto* const real = next_definition<decltype(::tmpnam)>("tmpnam");
  RankProcess* process = name != nullptr ? nullptr : current_rank_process();
  return real(process == nullptr ? name : process->libc_state().text_results().name);
}
