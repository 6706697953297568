//! LibcState - state that the C library keeps once per process and that programs use as their own:
//! random number generators, strtok's position, hsearch's table, the results of localtime, asctime,
//! getpwnam, gethostbyname, inet_ntoa and similar functions, the loader's last error.
//!
//! Used by the rank alone. Made at first use, since most ranks need none of it. The sequences are
//! the C library's own.
#pragma once

#include <array>
#include <clocale>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cwchar>
#include <deque>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <memory>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <new>
#include <optional>
#include <pwd.h>
#include <search.h>
#include <string>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"

namespace sorrel::program {

/// The state behind rand, random and srandom.
struct RandomState {
  RandomState();
  RandomState(const RandomState&) = delete;
  RandomState& operator=(const RandomState&) = delete;

  random_data generator{};
  char initial[128];  // the C library's default: TYPE_3, seeded with 1
};

/// Programs hold addresses within (initstate, setstate, seed48).
struct Generators {
  std::optional<RandomState> random;
  std::optional<drand48_data> drand48;
};

struct TimeResults {
  tm broken_down{};
  tm date{};  // of getdate
  char text[64] = {};
};

/// hcreate's table.
struct SearchTable {
  SearchTable() = default;
  SearchTable(const SearchTable&) = delete;
  SearchTable& operator=(const SearchTable&) = delete;

  ~SearchTable() { ::hdestroy_r(&data); }

  hsearch_data data{};
};

/// Results of functions that return a text, or read one.
struct TextResults {
  char address[INET_ADDRSTRLEN] = {};  // inet_ntoa
  char card[18] = {};                  // ether_ntoa
  ether_addr card_address{};           // ether_aton
  char name[L_tmpnam] = {};            // tmpnam
  char base_64[8] = {};                // l64a
  char digits[5120] = {};              // ecvt, fcvt, qecvt, qfcvt: all digits of a long double
  char error[128] = {};                // strerror
  char signal[64] = {};                // strsignal
  char terminal[PATH_MAX] = {};        // ttyname, ptsname
};

/// An entry of a data base of the system, and the texts to which it refers.
template <class Entry>
struct TextEntry {
  Entry entry{};
  std::vector<char> text;
};

/// The results of gethostbyname, getservbyname, getprotobyname and similar functions.
struct NetworkResults {
  TextEntry<hostent> host;
  TextEntry<servent> service;
  TextEntry<protoent> protocol;
};

/// All entries of a data base that a rank reads one after the other (getpwent), and how many it has
/// read.
template <class Entry>
struct EntryList {
  std::deque<TextEntry<Entry>> entries;
  std::size_t next = 0;
  bool is_read = false;
};

struct AccountLists {
  EntryList<passwd> users;
  EntryList<group> groups;
};

/// The results of getpwnam, getpwuid, getgrnam and getgrgid.
struct AccountResults {
  TextEntry<passwd> user;
  TextEntry<group> users;
};

/// The result of getmntent.
struct MountResult {
  mntent entry{};
  char text[4096] = {};
};

struct LoaderError {
  std::string text;
  bool is_pending = false;
};

/// A call of nftw() that changes the directory.
struct DirectoryWalk {
  __nftw_func_t callback;
  DirectoryWalk* outer;
};

struct LastErrorLine {
  const char* file = nullptr;
  unsigned line = 0;
};

/// Functions that convert characters, each with a state of its own.
enum class Conversion {
  mbtowc,
  mblen,
  mbrtowc,
  mbrlen,
  mbsrtowcs,
  mbsnrtowcs,
  mbrtoc8,
  c8rtomb,
  mbrtoc16,
  c16rtomb,
  mbrtoc32,
  c32rtomb,
};
inline constexpr std::size_t conversion_count = 12;

class LibcState {
 public:
  [[nodiscard]] random_data& random();
  [[nodiscard]] drand48_data& drand48();
  [[nodiscard]] TimeResults& time_results();
  [[nodiscard]] AccountResults& account_results();
  [[nodiscard]] SearchTable& search_table();
  [[nodiscard]] TextResults& text_results();
  [[nodiscard]] NetworkResults& network_results();
  [[nodiscard]] AccountLists& account_lists();
  [[nodiscard]] MountResult& mount_result();

  /// The text of the next dlerror(), after a dlopen() that this module failed.
  [[nodiscard]] LoaderError& loader_error();

  /// For error_at_line.
  [[nodiscard]] LastErrorLine& last_error_line() { return last_error_line_; }

  /// The result of localeconv.
  [[nodiscard]] lconv& number_format() { return number_format_; }

  /// Null outside of nftw().
  [[nodiscard]] DirectoryWalk*& innermost_walk() { return innermost_walk_; }

  /// The state of a character that a function has begun, where its caller keeps none.
  [[nodiscard]] std::mbstate_t& character_state(Conversion conversion) {
    return character_states_[static_cast<std::size_t>(conversion)];
  }

  [[nodiscard]] char*& strtok_position() { return strtok_position_; }

  /// Before the rank runs: makes its generators at `place`, which is in the rank's memory, goes
  /// along with it, and outlives this object.
  void make_generators(void* place) { generators_ = new (place) Generators; }

  /// A text equal to `name`, a time zone's, that is in the rank's memory and stays as it is. For a
  /// rank whose memory is saved and restored, and calls this. Null: no memory.
  [[nodiscard]] char* kept_zone_name(const char* name);

  /// For a rank whose memory is saved and restored: what save() leaves out, for a user; null if
  /// there is nothing. After make_generators().
  [[nodiscard]] const char* reason_not_saved() const;
  void save(ByteWriter& to) const;
  void restore(ByteCursor& from);

 private:
  [[nodiscard]] Generators& generators();

  /// Null until the first use, and if they are in the rank's memory.
  std::unique_ptr<Generators> own_generators_;
  Generators* generators_ = nullptr;
  std::vector<char*> zone_names_;
  std::unique_ptr<TimeResults> time_results_;
  std::unique_ptr<AccountResults> account_results_;
  std::unique_ptr<SearchTable> search_table_;
  std::unique_ptr<TextResults> text_results_;
  std::unique_ptr<NetworkResults> network_results_;
  std::unique_ptr<AccountLists> account_lists_;
  std::unique_ptr<MountResult> mount_result_;
  std::unique_ptr<LoaderError> loader_error_;
  LastErrorLine last_error_line_;
  lconv number_format_{};
  std::array<std::mbstate_t, conversion_count> character_states_{};
  DirectoryWalk* innermost_walk_ = nullptr;
  char* strtok_position_ = nullptr;
};

}  // namespace sorrel::program
