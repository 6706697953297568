#include "program/state/getopt_state.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace sorrel::program {

namespace {

[[nodiscard]] bool is_option(const char* argument) {
  return argument[0] == '-' && argument[1] != '\0';
}

template <class T>
[[nodiscard]] T& variable(const PrivatizedImage& copy, T& of_library, T& own) {
  T* found = copy.own(of_library);
  return found != nullptr ? *found : own;
}

[[nodiscard]] bool mean_the_same(const option& a, const option& b) {
  return a.has_arg == b.has_arg && a.flag == b.flag && a.val == b.val;
}

}  // namespace

GetoptState::GetoptState(const PrivatizedImage& copy)
    : index_(variable(copy, optind, own_index_)),
      report_(variable(copy, opterr, own_report_)),
      wrong_(variable(copy, optopt, own_wrong_)),
      argument_(variable(copy, optarg, own_argument_)) {}

void GetoptState::save(ByteWriter& to) const {
  const auto add = [&to](const auto&... values) { (to.add(values), ...); };
  add(own_index_, own_report_, own_wrong_, own_argument_, has_started_, is_silent_, ordering_,
      rest_, skipped_begin_, skipped_end_);
}

void GetoptState::restore(ByteCursor& from) {
  const auto take = [&from]<class... Value>(Value&... values) {
    ((values = from.take<Value>()), ...);
  };
  take(own_index_, own_report_, own_wrong_, own_argument_, has_started_, is_silent_, ordering_,
       rest_, skipped_begin_, skipped_end_);
}

int GetoptState::next(int argc, char* const* constant_argv, OptionTable table) {
  if (argc < 1) return -1;
  argument_ = nullptr;
  if (index_ == 0 || !has_started_) restart(table);
  if (*table.short_options == '-' || *table.short_options == '+') ++table.short_options;
  is_silent_ = report_ == 0 || *table.short_options == ':';

  auto** argv = const_cast<char**>(constant_argv);  // getopt permutes despite its prototype
  if (rest_ != nullptr && *rest_ != '\0') return short_option(argc, argv, table);
  if (!find_argument(argc, argv)) return -1;
  SORREL_ASSERT(index_ < argc, "argument %d of %d", index_, argc);
  char* argument = argv[index_];
  if (!is_option(argument)) {
    if (ordering_ == Ordering::stop_at_argument) return -1;
    argument_ = argument;
    ++index_;
    return 1;
  }
  if (table.long_options != nullptr && argument[1] == '-') {
    rest_ = argument + 2;
    return long_option(argc, argv, table, "--");
  }
  rest_ = argument + 1;
  if (table.long_options != nullptr && table.single_dash_is_long &&
      (argument[2] != '\0' || std::strchr(table.short_options, argument[1]) == nullptr)) {
    const int result = long_option(argc, argv, table, "-");
    // It has taken the argument. The result alone does not tell: an option may have any value.
    if (rest_ == nullptr) return result;
  }
  return short_option(argc, argv, table);
}

void GetoptState::restart(const OptionTable& table) {
  if (index_ == 0) index_ = 1;
  skipped_begin_ = skipped_end_ = index_;
  rest_ = nullptr;
  has_started_ = true;
  if (*table.short_options == '-') {
    ordering_ = Ordering::return_in_order;
  } else if (*table.short_options == '+' || table.is_posix ||
             std::getenv("POSIXLY_CORRECT") != nullptr) {
    ordering_ = Ordering::stop_at_argument;
  } else {
    ordering_ = Ordering::permute;
  }
}

// Options found behind skipped arguments move before them.
void GetoptState::move_arguments_behind(char** argv) {
  SORREL_ASSERT(skipped_begin_ <= skipped_end_ && skipped_end_ <= index_, "%d, %d, %d",
                skipped_begin_, skipped_end_, index_);
  std::rotate(argv + skipped_begin_, argv + skipped_end_, argv + index_);
  skipped_begin_ += index_ - skipped_end_;
  skipped_end_ = index_;
}

bool GetoptState::find_argument(int argc, char** argv) {
  // The program may have reset optind.
  skipped_end_ = std::min(skipped_end_, index_);
  skipped_begin_ = std::min(skipped_begin_, index_);
  const auto settle = [&] {
    if (skipped_begin_ != skipped_end_ && skipped_end_ != index_) {
      move_arguments_behind(argv);
    } else if (skipped_begin_ == skipped_end_) {
      skipped_begin_ = index_;
    }
  };
  if (ordering_ == Ordering::permute) {
    settle();
    while (index_ < argc && !is_option(argv[index_]))
      ++index_;
    skipped_end_ = index_;
  }
  if (index_ < argc && std::strcmp(argv[index_], "--") == 0) {
    ++index_;
    settle();
    skipped_end_ = index_ = argc;
  }
  if (index_ < argc) return true;
  if (skipped_begin_ != skipped_end_) index_ = skipped_begin_;
  return false;
}

int GetoptState::short_option(int argc, char** argv, const OptionTable& table) {
  SORREL_ASSERT(rest_ != nullptr && *rest_ != '\0', "no letter is left");
  const char letter = *rest_++;
  const char* known = std::strchr(table.short_options, letter);
  if (*rest_ == '\0') ++index_;
  if (known == nullptr || letter == ':' || letter == ';') {
    report_error("%s: invalid option -- '%c'\n", argv[0], letter);
    wrong_ = letter;
    return '?';
  }
  const bool is_long_in_disguise =
      letter == 'W' && known[1] == ';' && table.long_options != nullptr;
  if (!is_long_in_disguise && known[1] != ':') return letter;

  const bool is_optional = known[1] == ':' && known[2] == ':';
  if (*rest_ != '\0') {
    argument_ = rest_;
    if (!is_long_in_disguise) ++index_;
  } else if (!is_optional) {
    if (index_ >= argc) {
      report_error("%s: option requires an argument -- '%c'\n", argv[0], letter);
      wrong_ = letter;
      rest_ = nullptr;
      return *table.short_options == ':' ? ':' : '?';
    }
    argument_ = argv[index_];
    if (!is_long_in_disguise) ++index_;
  }
  rest_ = nullptr;
  if (!is_long_in_disguise) return letter;
  rest_ = std::exchange(argument_, nullptr);
  OptionTable strict = table;
  strict.single_dash_is_long = false;
  return long_option(argc, argv, strict, "-W ");
}

const option* GetoptState::match(const char* argument,
                                 const OptionTable& table,
                                 bool& is_ambiguous) const {
  const std::size_t length = std::strcspn(argument, "=");
  const option* found = nullptr;
  is_ambiguous = false;
  for (const option* entry = table.long_options; entry->name != nullptr; ++entry) {
    if (std::strncmp(entry->name, argument, length) != 0) continue;
    if (std::strlen(entry->name) == length) {
      is_ambiguous = false;
      return entry;
    }
    if (found == nullptr) {
      found = entry;
    } else if (table.single_dash_is_long || !mean_the_same(*found, *entry)) {
      is_ambiguous = true;
    }
  }
  return found;
}

int GetoptState::long_option(int argc, char** argv, const OptionTable& table, const char* dashes) {
  bool is_ambiguous = false;
  const option* found = match(rest_, table, is_ambiguous);
  if (found != nullptr && !is_ambiguous)
    return take_long_argument(argc, argv, table, *found, dashes);
  const bool may_be_short = table.single_dash_is_long && argv[index_][1] != '-' &&
                            std::strchr(table.short_options, *rest_) != nullptr;
  if (found == nullptr && may_be_short) return not_long;
  report_error(
      is_ambiguous ? "%s: option '%s%s' is ambiguous\n" : "%s: unrecognized option '%s%s'\n",
      argv[0], dashes, rest_);
  rest_ = nullptr;
  ++index_;
  wrong_ = 0;
  return '?';
}

int GetoptState::take_long_argument(
    int argc, char** argv, const OptionTable& table, const option& found, const char* dashes) {
  char* equals = std::strchr(rest_, '=');
  rest_ = nullptr;
  ++index_;
  if (equals != nullptr && found.has_arg == no_argument) {
    report_error("%s: option '%s%s' doesn't allow an argument\n", argv[0], dashes, found.name);
    wrong_ = found.val;
    return '?';
  }
  if (equals != nullptr) {
    argument_ = equals + 1;
  } else if (found.has_arg == required_argument) {
    if (index_ >= argc) {
      report_error("%s: option '%s%s' requires an argument\n", argv[0], dashes, found.name);
      wrong_ = found.val;
      return *table.short_options == ':' ? ':' : '?';
    }
    argument_ = argv[index_++];
  }
  if (table.long_index != nullptr)
    *table.long_index = static_cast<int>(&found - table.long_options);
  if (found.flag == nullptr) return found.val;
  *found.flag = found.val;
  return 0;
}

void GetoptState::report_error(const char* format, ...) const {
  if (is_silent_) return;
  va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
}

}  // namespace sorrel::program
