//! LibcState - state that the C library keeps once per process and that programs use as their own:
//! random number generators, strtok's position, hsearch's table, the results of localtime, asctime,
//! getpwnam, inet_ntoa and similar functions, the loader's last error.
//!
//! Used by the rank alone. Made at first use, since most ranks need none of it. The sequences are
//! the C library's own.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <grp.h>
#include <memory>
#include <netinet/in.h>
#include <pwd.h>
#include <search.h>
#include <string>
#include <vector>

namespace sorrel::program {

/// The state behind rand, random and srandom.
struct RandomState {
  RandomState();

  random_data generator{};
  char initial[128];  // the C library's default: TYPE_3, seeded with 1
};

struct TimeResults {
  tm broken_down{};
  tm date{};  // of getdate
  char text[64] = {};
};

/// The results of getpwnam, getpwuid, getgrnam and getgrgid.
struct AccountResults {
  passwd user{};
  group users{};
  std::vector<char> user_text;
  std::vector<char> users_text;
};

/// hcreate's table.
struct SearchTable {
  SearchTable() = default;
  SearchTable(const SearchTable&) = delete;
  SearchTable& operator=(const SearchTable&) = delete;

  ~SearchTable() { ::hdestroy_r(&data); }

  hsearch_data data{};
};

/// Of inet_ntoa and tmpnam.
struct TextResults {
  char address[INET_ADDRSTRLEN] = {};
  char name[L_tmpnam] = {};
};

struct LoaderError {
  std::string text;
  bool is_pending = false;
};

struct LastErrorLine {
  const char* file = nullptr;
  unsigned line = 0;
};

class LibcState {
 public:
  [[nodiscard]] random_data& random();
  [[nodiscard]] drand48_data& drand48();
  [[nodiscard]] TimeResults& time_results();
  [[nodiscard]] AccountResults& account_results();
  [[nodiscard]] SearchTable& search_table();
  [[nodiscard]] TextResults& text_results();

  /// The text of the next dlerror(), after a dlopen() that this module failed.
  [[nodiscard]] LoaderError& loader_error();

  /// Of error_at_line.
  [[nodiscard]] LastErrorLine& last_error_line() { return last_error_line_; }

  [[nodiscard]] char*& strtok_position() { return strtok_position_; }

 private:
  std::unique_ptr<RandomState> random_;
  std::unique_ptr<drand48_data> drand48_;
  std::unique_ptr<TimeResults> time_results_;
  std::unique_ptr<AccountResults> account_results_;
  std::unique_ptr<SearchTable> search_table_;
  std::unique_ptr<TextResults> text_results_;
  std::unique_ptr<LoaderError> loader_error_;
  LastErrorLine last_error_line_;
  char* strtok_position_ = nullptr;
};

}  // namespace sorrel::program
