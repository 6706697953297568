//! getpwnam, getpwent, gethostbyname, getservbyname, getmntent and similar functions: the entries
//! that they return, one per rank, through the C library's re-entrant functions. A rank reads a
//! list of users or groups (getpwent, getgrent, and their re-entrant forms) as a whole, at the
//! first call.

#include <cerrno>
#include <grp.h>
#include <mntent.h>
#include <mutex>
#include <netdb.h>
#include <pwd.h>
#include <vector>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

constexpr std::size_t bytes_min = 1024;
constexpr std::size_t bytes_max = std::size_t{1} << 20;

/// Calls `look_up(entry, text, bytes, found)`, with growing buffers until one suffices. Null, and
/// errno, if there is no such entry.
template <class Entry, class LookUp>
Entry* found_entry(TextEntry<Entry>& result, LookUp&& look_up) {
  if (result.text.empty()) result.text.resize(bytes_min);
  Entry* found = nullptr;
  int error = 0;
  while ((error = look_up(&result.entry, result.text.data(), result.text.size(), &found)) ==
             ERANGE &&
         result.text.size() < bytes_max)
    result.text.resize(2 * result.text.size());
  if (error != 0) errno = error;
  return found;
}

/// The entry of `key`: by `real` outside of ranks, else by `look_up` into the rank's result.
template <class Entry, class Key>
Entry* account_of(Entry* (*real)(Key),
                  int (*look_up)(Key, Entry*, char*, std::size_t, Entry**),
                  Key key,
                  TextEntry<Entry> AccountResults::* result) {
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(key);
  return found_entry(process->libc_state().account_results().*result,
                     [&](Entry* entry, char* text, std::size_t bytes, Entry** found) {
                       return look_up(key, entry, text, bytes, found);
                     });
}

/// As account_of(), for the data bases of the network, with functions of any arguments.
template <class Entry, class LookUp, class... Keys>
Entry* network_entry(Entry* (*real)(Keys...),
                     TextEntry<Entry> NetworkResults::* result,
                     LookUp&& look_up,
                     Keys... keys) {
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(keys...);
  return found_entry(process->libc_state().network_results().*result, look_up);
}

/// The position in the system's list is the process's: one rank at a time reads it.
std::mutex list_mutex;

template <class Entry>
struct ListFunctions {
  void (*rewind)();
  int (*read)(Entry*, char*, std::size_t, Entry**);
  void (*close)();
};

/// The entry at the rank's position, or null at the end.
template <class Entry>
Entry* current_entry(EntryList<Entry>& list, const ListFunctions<Entry>& functions) {
  if (!list.is_read) {
    const std::scoped_lock lock(list_mutex);
    functions.rewind();
    do {
      list.entries.emplace_back();
    } while (found_entry(list.entries.back(), functions.read) != nullptr);
    list.entries.pop_back();
    functions.close();
    list.is_read = true;
  }
  return list.next < list.entries.size() ? &list.entries[list.next].entry : nullptr;
}

template <class Entry>
Entry* next_entry(EntryList<Entry>& list, const ListFunctions<Entry>& functions) {
  Entry* entry = current_entry(list, functions);
  if (entry != nullptr) ++list.next;
  return entry;
}

/// As next_entry(), into the caller's memory, by `look_up(name, ...)`. Stays at an entry that is
/// too large.
template <class Entry, class LookUp>
int next_entry_into(EntryList<Entry>& list,
                    const ListFunctions<Entry>& functions,
                    char* Entry::* name,
                    LookUp&& look_up,
                    Entry** found) {
  *found = nullptr;
  const Entry* entry = current_entry(list, functions);
  if (entry == nullptr) return ENOENT;
  const int error = look_up(entry->*name);
  if (error != ERANGE) ++list.next;
  return error;
}

}  // namespace

SORREL_INTERPOSED passwd* getpwnam(const char* name) {
  static auto* const real = next_definition<decltype(::getpwnam)>("getpwnam");
  return account_of(real, ::getpwnam_r, name, &AccountResults::user);
}

SORREL_INTERPOSED passwd* getpwuid(uid_t number) {
  static auto* const real = next_definition<decltype(::getpwuid)>("getpwuid");
  return account_of(real, ::getpwuid_r, number, &AccountResults::user);
}

SORREL_INTERPOSED group* getgrnam(const char* name) {
  static auto* const real = next_definition<decltype(::getgrnam)>("getgrnam");
  return account_of(real, ::getgrnam_r, name, &AccountResults::users);
}

SORREL_INTERPOSED group* getgrgid(gid_t number) {
  static auto* const real = next_definition<decltype(::getgrgid)>("getgrgid");
  return account_of(real, ::getgrgid_r, number, &AccountResults::users);
}

#define SORREL_ACCOUNT_LIST(Entry, list, name, look_up, set_name, get_name, end_name)              \
  SORREL_INTERPOSED void set_name() {                                                              \
    static auto* const real = next_definition<void()>(#set_name);                                  \
    RankProcess* process = current_rank_process();                                                 \
    if (process == nullptr) return real();                                                         \
    process->libc_state().account_lists().list = {};                                               \
  }                                                                                                \
  SORREL_INTERPOSED void end_name() {                                                              \
    static auto* const real = next_definition<void()>(#end_name);                                  \
    RankProcess* process = current_rank_process();                                                 \
    if (process == nullptr) return real();                                                         \
    process->libc_state().account_lists().list = {};                                               \
  }                                                                                                \
  static const ListFunctions<Entry>& functions_of_##list() {                                       \
    static const ListFunctions<Entry> functions{                                                   \
        next_definition<void()>(#set_name),                                                        \
        next_definition<int(Entry*, char*, std::size_t, Entry**)>(#get_name "_r"),                 \
        next_definition<void()>(#end_name)};                                                       \
    return functions;                                                                              \
  }                                                                                                \
  SORREL_INTERPOSED Entry* get_name() {                                                            \
    static auto* const real = next_definition<Entry*()>(#get_name);                                \
    RankProcess* process = current_rank_process();                                                 \
    if (process == nullptr) return real();                                                         \
    return next_entry(process->libc_state().account_lists().list, functions_of_##list());          \
  }                                                                                                \
  SORREL_INTERPOSED int get_name##_r(Entry* entry, char* text, std::size_t bytes, Entry** found) { \
    RankProcess* process = current_rank_process();                                                 \
    if (process == nullptr) return functions_of_##list().read(entry, text, bytes, found);          \
    return next_entry_into(                                                                        \
        process->libc_state().account_lists().list, functions_of_##list(), &Entry::name,           \
        [&](const char* key) { return look_up(key, entry, text, bytes, found); }, found);          \
  }

SORREL_ACCOUNT_LIST(passwd, users, pw_name, ::getpwnam_r, setpwent, getpwent, endpwent)
SORREL_ACCOUNT_LIST(group, groups, gr_name, ::getgrnam_r, setgrent, getgrent, endgrent)

SORREL_INTERPOSED hostent* gethostbyname(const char* name) {
  static auto* const real = next_definition<decltype(::gethostbyname)>("gethostbyname");
  return network_entry(
      real, &NetworkResults::host,
      [&](auto... result) { return ::gethostbyname_r(name, result..., &h_errno); }, name);
}

SORREL_INTERPOSED hostent* gethostbyname2(const char* name, int family) {
  static auto* const real = next_definition<decltype(::gethostbyname2)>("gethostbyname2");
  return network_entry(
      real, &NetworkResults::host,
      [&](auto... result) { return ::gethostbyname2_r(name, family, result..., &h_errno); }, name,
      family);
}

SORREL_INTERPOSED hostent* gethostbyaddr(const void* address, socklen_t bytes, int family) {
  static auto* const real = next_definition<decltype(::gethostbyaddr)>("gethostbyaddr");
  return network_entry(
      real, &NetworkResults::host,
      [&](auto... result) {
        return ::gethostbyaddr_r(address, bytes, family, result..., &h_errno);
      },
      address, bytes, family);
}

SORREL_INTERPOSED servent* getservbyname(const char* name, const char* protocol) {
  static auto* const real = next_definition<decltype(::getservbyname)>("getservbyname");
  return network_entry(
      real, &NetworkResults::service,
      [&](auto... result) { return ::getservbyname_r(name, protocol, result...); }, name, protocol);
}

SORREL_INTERPOSED servent* getservbyport(int port, const char* protocol) {
  static auto* const real = next_definition<decltype(::getservbyport)>("getservbyport");
  return network_entry(
      real, &NetworkResults::service,
      [&](auto... result) { return ::getservbyport_r(port, protocol, result...); }, port, protocol);
}

SORREL_INTERPOSED protoent* getprotobyname(const char* name) {
  static auto* const real = next_definition<decltype(::getprotobyname)>("getprotobyname");
  return network_entry(
      real, &NetworkResults::protocol,
      [&](auto... result) { return ::getprotobyname_r(name, result...); }, name);
}

SORREL_INTERPOSED protoent* getprotobynumber(int number) {
  static auto* const real = next_definition<decltype(::getprotobynumber)>("getprotobynumber");
  return network_entry(
      real, &NetworkResults::protocol,
      [&](auto... result) { return ::getprotobynumber_r(number, result...); }, number);
}

SORREL_INTERPOSED mntent* getmntent(FILE* file) noexcept {
  static auto* const real = next_definition<decltype(::getmntent)>("getmntent");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(file);
  MountResult& result = process->libc_state().mount_result();
  return ::getmntent_r(file, &result.entry, result.text, sizeof result.text);
}
