#include "tools/sorrel/try/output_match.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <optional>

#include "base/printable.hpp"

namespace sorrel::tool {

namespace {

constexpr char number_mark = '#';
constexpr std::size_t shown_max = 60;

constexpr std::string_view time_words[] = {
    "time",        "times",   "timing",   "timings", "elapsed",     "wall",         "walltime",
    "wtime",       "cpu",     "duration", "speed",   "performance", "bandwidth",    "throughput",
    "latency",     "rate",    "mflops",   "gflops",  "flops",       "mflop",        "gflop",
    "fom",         "seconds", "second",   "secs",    "sec",         "ms",           "msec",
    "us",          "usec",    "ns",       "nsec",    "minutes",     "milliseconds", "microseconds",
    "nanoseconds", "date",    "pid",      "hostname"};

bool is_letter(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/// The length of the number at the begin of `text`; 0: there is none.
std::size_t number_length(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  const std::size_t digits_begin = at;
  const auto skip_digits = [&] {
    while (at < text.size() && is_digit(text[at]))
      ++at;
  };
  skip_digits();
  std::size_t digits = at - digits_begin;
  if (at < text.size() && text[at] == '.') {
    const std::size_t point = at++;
    skip_digits();
    digits += at - point - 1;
  }
  if (digits == 0) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t exponent = at++;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t first_digit = at;
    skip_digits();
    if (at == first_digit) at = exponent;
  }
  return at;
}

/// A part of a line: its text with marks for numbers, and the numbers.
struct Part {
  std::string text;
  PrintedResult::Row numbers;
  bool is_time = false;
};

bool names_time(std::string word) {
  std::ranges::transform(word, word.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return std::ranges::find(time_words, word) != std::end(time_words);
}

/// Whether the text right behind a number, maybe after a blank or a parenthesis, is a unit of time
/// or of a speed: "s", or with "/s" in it.
bool is_unit(std::string_view after) {
  while (!after.empty() && (after[0] == ' ' || after[0] == '(' || after[0] == '['))
    after.remove_prefix(1);
  std::size_t length = 0;
  while (length < after.size() && (is_letter(after[length]) || after[length] == '/'))
    ++length;
  const std::string_view unit = after.substr(0, length);
  return unit == "s" || unit == "h" || unit == "min" || unit.ends_with("/s") ||
         unit.ends_with("/sec") || names_time(std::string(unit));
}

/// Adds the number with which `rest` begins; returns its length.
std::size_t add_number(Part& part, std::string_view rest, std::size_t length) {
  const std::string number(rest.substr(0, length));
  part.numbers.push_back({.value = std::strtod(number.c_str(), nullptr),
                          .is_exact = number.find_first_of(".eE") == std::string::npos});
  // "( 1.5" and "(10.5": a field's width puts blanks in front of short numbers.
  if (part.text.ends_with("( ") || part.text.ends_with("[ ")) part.text.pop_back();
  part.text += number_mark;
  part.is_time |= is_unit(rest.substr(length));
  return length;
}

/// Adds the word with which `rest` begins; returns its length.
std::size_t add_word(Part& part, std::string_view rest) {
  const auto* const end = std::ranges::find_if_not(rest, is_letter);
  const std::string word(rest.begin(), end);
  part.is_time |= names_time(word);
  part.text += word;
  return word.size();
}

Part part_of(std::string_view text) {
  Part part;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_in_word = at > 0 && (is_letter(text[at - 1]) || is_digit(text[at - 1]));
    const std::size_t length = is_in_word ? 0 : number_length(text.substr(at));
    if (length > 0) {
      at += add_number(part, text.substr(at), length);
    } else if (is_letter(text[at]) && !is_in_word) {
      at += add_word(part, text.substr(at));
    } else {
      // Blanks line columns up, which depends on the lengths of numbers.
      const bool is_blank = text[at] == ' ' || text[at] == '\t';
      if (!is_blank || (!part.text.empty() && part.text.back() != ' '))
        part.text += is_blank ? ' ' : text[at];
      ++at;
    }
  }
  return part;
}

bool has_number(const Part& part) {
  return !part.numbers.empty();
}

/// The parts of a line between commas, semicolons and bars, each with what ends it.
struct Parts {
  std::vector<Part> all;
  std::string ends;

  explicit Parts(std::string_view line) {
    while (!line.empty()) {
      const std::size_t end = std::min(line.find_first_of(",;|"), line.size());
      all.push_back(part_of(line.substr(0, end)));
      if (end < line.size()) ends += line[end];
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    if (!ends.empty() && ends.size() == all.size()) all.emplace_back();
  }

  [[nodiscard]] std::size_t bar_count() const {
    return static_cast<std::size_t>(std::ranges::count(ends, '|'));
  }

  /// A line between the rows of a table.
  [[nodiscard]] bool is_rule() const {
    return std::ranges::none_of(all, [](const Part& part) {
      return std::ranges::any_of(
          part.text, [](char letter) { return is_letter(letter) || letter == number_mark; });
    });
  }

  /// The text without numbers.
  [[nodiscard]] std::string text() const {
    std::string joined;
    for (std::size_t i = 0; i < all.size(); ++i) {
      joined += all[i].text;
      if (i < ends.size()) joined += ends[i];
    }
    while (!joined.empty() && joined.back() == ' ')
      joined.pop_back();
    return joined;
  }
};

/// The columns of the table with bars that the lines before have begun: its heading names times.
class TimeColumns {
 public:
  /// Takes the next line; marks its parts that are in columns of times, and shares of them.
  void mark(Parts& line) {
    if (line.is_rule()) return;
    const std::size_t bars = line.bar_count();
    if (bars >= 2 && bars == line.ends.size() && std::ranges::none_of(line.all, has_number)) {
      begin(line);
      return;
    }
    if (is_time_.size() != line.all.size() || bars != line.ends.size()) {
      is_time_.clear();
      return;
    }
    for (std::size_t i = 0; i < is_time_.size(); ++i)
      line.all[i].is_time |= is_time_[i];
  }

 private:
  void begin(const Parts& heading) {
    is_time_.clear();
    if (std::ranges::none_of(heading.all, &Part::is_time)) return;
    for (const Part& part : heading.all)
      is_time_.push_back(part.is_time || part.text.find('%') != std::string::npos);
  }

  std::vector<bool> is_time_;  ///< by column; empty: no such table
};

bool is_less(const PrintedResult::Row& left, const PrintedResult::Row& right) {
  return std::ranges::lexicographical_compare(
      left, right, [](const PrintedResult::Number& one, const PrintedResult::Number& two) {
        return one.value < two.value;
      });
}

std::string shortened(const std::string& text) {
  const std::string shown = printable(text);
  return shown.size() <= shown_max ? shown : shown.substr(0, shown_max - 3) + "...";
}

std::string lines_text(std::size_t count) {
  return fmt::format("{} line{}", count, count == 1 ? "" : "s");
}

}  // namespace

PrintedResult::PrintedResult(std::string_view text,
                             std::uint64_t ranks,
                             const MatchOptions& options)
    : ranks_(ranks) {
  TimeColumns columns;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (std::ranges::any_of(options.ignored, [&](const std::regex& pattern) {
          return std::regex_search(line, pattern);
        }))
      continue;
    Parts parts(line);
    columns.mark(parts);
    Row row;
    for (const Part& part : parts.all) {
      if (!part.is_time) row.insert(row.end(), part.numbers.begin(), part.numbers.end());
    }
    std::string words = parts.text();
    if (!words.empty()) lines_[std::move(words)].push_back(std::move(row));
  }
  for (auto& [words, rows] : lines_)
    std::ranges::sort(rows, is_less);
}

bool OutputMatch::agree(const PrintedResult::Number& mine,
                        const PrintedResult::Number& theirs,
                        std::uint64_t their_ranks) const {
  if (mine.value == theirs.value) return true;
  const auto is_count = [](const PrintedResult::Number& number, std::uint64_t ranks) {
    return number.is_exact && number.value == static_cast<double>(ranks);
  };
  if (is_count(mine, first_.ranks()) && is_count(theirs, their_ranks)) return true;
  if (mine.is_exact && theirs.is_exact) return false;
  const double larger = std::max(std::abs(mine.value), std::abs(theirs.value));
  return larger < number_of_zero ||
         std::abs(mine.value - theirs.value) <= options_.tolerance * larger;
}

void OutputMatch::learn(const PrintedResult& again) {
  for (const auto& [words, rows] : first_.lines()) {
    const auto found = again.lines().find(words);
    if (found == again.lines().end() || found->second.size() != rows.size()) {
      unsteady_lines_.insert(words);
      continue;
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t index = 0; index < rows[row].size(); ++index) {
        if (!agree(rows[row][index], found->second[row][index], again.ranks()))
          unsteady_numbers_.emplace(words, index);
      }
    }
  }
  for (const auto& [words, rows] : again.lines()) {
    if (!first_.lines().contains(words)) unsteady_lines_.insert(words);
  }
}

std::string OutputMatch::difference(const PrintedResult& other) const {
  for (const auto& [words, rows] : other.lines()) {
    if (!first_.lines().contains(words) && !unsteady_lines_.contains(words))
      return fmt::format("only here: '{}'", shortened(words));
  }
  for (const auto& [words, rows] : first_.lines()) {
    if (unsteady_lines_.contains(words)) continue;
    const auto found = other.lines().find(words);
    if (found == other.lines().end()) return fmt::format("lacks '{}'", shortened(words));
    const std::vector<PrintedResult::Row>& others = found->second;
    if (others.size() != rows.size())
      return fmt::format("{} in place of {} '{}'", lines_text(others.size()), rows.size(),
                         shortened(words));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t index = 0; index < rows[row].size(); ++index) {
        if (unsteady_numbers_.contains({words, index})) continue;
        if (!agree(rows[row][index], others[row][index], other.ranks()))
          return fmt::format("{} in place of {} in '{}'", others[row][index].value,
                             rows[row][index].value, shortened(words));
      }
    }
  }
  return "";
}

}  // namespace sorrel::tool
