//! GetoptState - one rank's scan of its argument list, with the rules of GNU getopt.
//!
//! Implemented here because the C library has one scan per process and no function that takes its
//! state as an argument. Used by the rank alone. optind, optarg, opterr and optopt are the
//! variables of the rank's privatized image. Source: POSIX.1-2017 getopt, glibc manual, "Parsing
//! program options": permutation, "+" and "-", "::", "W;", abbreviated and single-dash long
//! options.
#pragma once

#include <getopt.h>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "program/image/image_slab.hpp"

namespace sorrel::program {

/// The options that one call allows.
struct OptionTable {
  const char* short_options = "";
  const option* long_options = nullptr;  // null: none
  int* long_index = nullptr;             // where to put the index of the long option found, or null
  bool single_dash_is_long = false;
  bool is_posix = false;  // stop at the first argument that is no option
};

class GetoptState {
 public:
  explicit GetoptState(const PrivatizedImage& copy);

  /// The next option's value, '?' or ':' for an invalid one, 1 for a non-option argument in order,
  /// -1 at the end.
  int next(int argc, char* const* argv, OptionTable table);

  /// For a rank whose memory is saved and restored.
  void save(ByteWriter& to) const;
  void restore(ByteCursor& from);

 private:
  enum class Ordering { permute, stop_at_argument, return_in_order };

  // No match yet: the argument may still be short options.
  static constexpr int not_long = -2;

  void restart(const OptionTable& table);
  /// Moves to the next option argument. False at the end: optind is at the first non-option.
  bool find_argument(int argc, char** argv);
  void move_arguments_behind(char** argv);
  int short_option(int argc, char** argv, const OptionTable& table);
  int long_option(int argc, char** argv, const OptionTable& table, const char* dashes);
  int take_long_argument(
      int argc, char** argv, const OptionTable& table, const option& found, const char* dashes);
  [[nodiscard]] const option* match(const char* argument,
                                    const OptionTable& table,
                                    bool& is_ambiguous) const;
  [[gnu::format(printf, 2, 3)]] void report_error(const char* format, ...) const;

  // The values for a program without a variable of that name.
  int own_index_ = 1;
  int own_report_ = 1;
  int own_wrong_ = '?';
  char* own_argument_ = nullptr;

  int& index_;       // optind
  int& report_;      // opterr
  int& wrong_;       // optopt
  char*& argument_;  // optarg
  bool has_started_ = false;
  bool is_silent_ = false;
  Ordering ordering_ = Ordering::permute;
  char* rest_ = nullptr;  // short options left in the current argument
  // Arguments skipped so far: [skipped_begin_, skipped_end_).
  int skipped_begin_ = 1;
  int skipped_end_ = 1;
};

}  // namespace sorrel::program
