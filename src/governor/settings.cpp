#include "governor/settings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <strings.h>

namespace sorrel::governor {

namespace {

class Reader {
 public:
  Reader(const Lookup& lookup, Settings& settings) : lookup_(lookup), settings_(settings) {}

  [[nodiscard]] bool is_set(const char* name) const { return lookup_(name) != nullptr; }

  /// The integer in a variable. Returns nothing if it is not set, or if it is not from `least` to
  /// `most`; the latter is reported.
  std::optional<std::int64_t> number(const char* name,
                                     std::int64_t least,
                                     std::int64_t most,
                                     const std::string& instead) {
    const char* value = lookup_(name);
    if (value == nullptr) return std::nullopt;
    std::string_view text = trim(value);
    // OMP_NUM_THREADS may be a list, one number for each nesting level; loops have one level.
    if (std::string_view(name) == "OMP_NUM_THREADS") text = trim(text.substr(0, text.find(',')));
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && number >= least &&
        number <= most)
      return number;
    report(name, value,
           "a whole number from " + std::to_string(least) + " to " + std::to_string(most), instead);
    return std::nullopt;
  }

  /// Whether a variable has this value, in upper or lower case.
  [[nodiscard]] bool is_word(const char* name, const char* word) const {
    const char* value = lookup_(name);
    return value != nullptr && strcasecmp(std::string(trim(value)).c_str(), word) == 0;
  }

  /// The index of a variable's value in `words`, in upper or lower case.
  std::optional<std::size_t> word(const char* name,
                                  const std::vector<std::string>& words,
                                  const std::string& instead) {
    const char* value = lookup_(name);
    if (value == nullptr) return std::nullopt;
    const std::string text(trim(value));
    std::string allowed;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (strcasecmp(text.c_str(), words[i].c_str()) == 0) return i;
      allowed += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    }
    report(name, value, allowed, instead);
    return std::nullopt;
  }

 private:
  static std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
      text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
      text.remove_suffix(1);
    return text;
  }

  void report(const char* name,
              const char* value,
              const std::string& allowed,
              const std::string& instead) {
    settings_.diagnostics.push_back(std::string(name) + " must be " + allowed + ", not '" + value +
                                    "'; using " + instead);
  }

  const Lookup& lookup_;
  Settings& settings_;
};

std::uint32_t to_width(std::int64_t number) {
  return static_cast<std::uint32_t>(number);
}

/// MP_SET_NUMTHREADS, OMP_NUM_THREADS, OMP_THREAD_LIMIT: the number of threads.
std::uint32_t read_width(Reader& reader, std::uint32_t cpus, std::uint32_t width_max) {
  const std::string all = "all " + std::to_string(cpus) + " processors";
  std::uint32_t width = std::min(cpus, width_max);
  const auto omp = reader.number("OMP_NUM_THREADS", 1, width_max, all);
  if (omp) width = to_width(*omp);
  // The more specific name has priority.
  const auto mp = reader.number("MP_SET_NUMTHREADS", 1, width_max, std::to_string(width));
  if (mp) width = to_width(*mp);
  const auto limit = reader.number("OMP_THREAD_LIMIT", 1, 1 << 30, "no limit");
  return limit ? std::min(width, to_width(*limit)) : width;
}

/// Whether the number of threads is a suggestion, and its limits.
void read_share(Reader& reader, Settings& settings) {
  GovernorLimits& limits = settings.limits;
  const bool is_suggestion = reader.is_set("MP_SUGNUMTHD");
  // As on IRIX: a number alone is fixed, a number with MP_SUGNUMTHD is a suggestion.
  if (reader.is_set("MP_SET_NUMTHREADS") && !is_suggestion) limits.share = Share::fixed;
  if (const auto dynamic = reader.word("OMP_DYNAMIC", {"true", "false"}, "true"); dynamic)
    limits.share = *dynamic == 0 ? Share::fair : Share::fixed;
  // As on IRIX: a suggested number follows the load of the system, not only that of peer jobs.
  if (is_suggestion) limits.share = Share::yielding;
  // `polite` is an earlier name of `yielding`.
  if (reader.is_word("SORREL_SHARE", "polite")) {
    limits.share = Share::yielding;
  } else if (const auto share =
                 reader.word("SORREL_SHARE", {"fair", "yielding", "fixed"}, "fair")) {
    limits.share = static_cast<Share>(*share);
  }
  const std::uint32_t asked = limits.width_max;
  if (const auto least = reader.number("MP_SUGNUMTHD_MIN", 1, asked, "1"); least)
    limits.width_min = to_width(*least);
  if (const auto most =
          reader.number("MP_SUGNUMTHD_MAX", limits.width_min, asked, std::to_string(asked));
      most && limits.share != Share::fixed)
    limits.width_max = to_width(*most);
}

/// MP_BLOCKTIME and OMP_WAIT_POLICY: how long to spin.
void read_spin(Reader& reader, Settings& settings) {
  const auto policy = reader.word("OMP_WAIT_POLICY", {"active", "passive"}, "an adaptive choice");
  if (policy) {
    settings.is_spin_fixed = true;
    settings.spin_ns = *policy == 0 ? spin_for_ever_ns : 0;
  }
  constexpr std::int64_t iterations_max = 1'000'000'000'000;
  const auto blocktime = reader.number("MP_BLOCKTIME", 0, iterations_max, "an adaptive choice");
  if (!blocktime) return;
  settings.is_spin_fixed = true;
  // An iteration of an empty loop takes about a nanosecond.
  settings.spin_ns = *blocktime == 0 ? spin_for_ever_ns : *blocktime == 1 ? 0 : *blocktime;
}

}  // namespace

Settings read_settings(const Lookup& lookup, std::uint32_t cpus, std::uint32_t width_max) {
  Settings settings;
  Reader reader(lookup, settings);
  settings.limits.width_max = read_width(reader, std::max(cpus, 1U), width_max);
  read_share(reader, settings);
  read_spin(reader, settings);
  settings.is_verbose = reader.is_set("MP_SUGNUMTHD_VERBOSE");
  return settings;
}

}  // namespace sorrel::governor
