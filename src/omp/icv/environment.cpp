#include "omp/icv/environment.hpp"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <strings.h>

#include "os/cpu_set.hpp"

namespace sorrel::omp {

namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_word(std::string_view text, const char* word) {
  return strcasecmp(std::string(text).c_str(), word) == 0;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class Reader {
 public:
  Reader(const governor::Lookup& lookup, Environment& result) : lookup_(lookup), result_(result) {}

  std::optional<std::string_view> value(const char* name) const {
    const char* text = lookup_(name);
    if (text == nullptr) return std::nullopt;
    return trim(text);
  }

  void report(const char* name, const std::string& allowed, const std::string& instead) {
    result_.diagnostics.push_back(std::string(name) + " must be " + allowed + ", not '" +
                                  lookup_(name) + "'; using " + instead);
  }

  void flag(const char* name, bool& into) {
    const auto text = value(name);
    if (!text) return;
    if (is_word(*text, "true") || is_word(*text, "1") || is_word(*text, "yes")) {
      into = true;
    } else if (is_word(*text, "false") || is_word(*text, "0") || is_word(*text, "no")) {
      into = false;
    } else {
      report(name, "true or false", into ? "true" : "false");
    }
  }

  template <class Number>
  bool number(const char* name, Number least, Number most, Number& into) {
    const auto text = value(name);
    if (!text) return false;
    const auto read = read_number(*text);
    if (read && *read >= static_cast<std::uint64_t>(least) &&
        *read <= static_cast<std::uint64_t>(most)) {
      into = static_cast<Number>(*read);
      return true;
    }
    report(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
           into == std::numeric_limits<Number>::max() ? "no limit" : std::to_string(into));
    return false;
  }

 private:
  const governor::Lookup& lookup_;
  Environment& result_;
};

void read_thread_counts(Reader& reader, Environment& result) {
  const auto text = reader.value("OMP_NUM_THREADS");
  if (!text) return;
  std::vector<std::uint32_t> counts;
  for (const std::string_view part : split(*text, ',')) {
    const auto count = read_number(part);
    if (!count || *count < 1 || *count > thread_count_max) {
      reader.report("OMP_NUM_THREADS",
                    "whole numbers from 1 to " + std::to_string(thread_count_max) +
                        ", one for each level, with commas between",
                    "all " + std::to_string(result.cpus) + " processors");
      return;
    }
    counts.push_back(static_cast<std::uint32_t>(*count));
  }
  result.icv.thread_count = counts.front();
  if (counts.size() > 1) {
    result.thread_counts = counts;
    result.icv.active_levels_max = active_levels_supported;
  }
}

void read_binds(Reader& reader, Environment& result) {
  const auto text = reader.value("OMP_PROC_BIND");
  if (!text) return;
  static constexpr std::pair<const char*, Bind> words[] = {
      {"false", Bind::none},      {"true", Bind::yes},    {"master", Bind::primary},
      {"primary", Bind::primary}, {"close", Bind::close}, {"spread", Bind::spread}};
  std::vector<Bind> binds;
  for (const std::string_view part : split(*text, ',')) {
    bool is_known = false;
    for (const auto& [word, bind] : words) {
      if (!is_word(part, word)) continue;
      binds.push_back(bind);
      is_known = true;
    }
    if (is_known) continue;
    reader.report("OMP_PROC_BIND",
                  "false, true, or a list of primary, close and spread with commas between",
                  "false");
    return;
  }
  result.icv.bind = binds.front();
  if (binds.size() > 1) {
    result.binds = binds;
    result.icv.active_levels_max = active_levels_supported;
  }
}

void read_schedule(Reader& reader, Environment& result) {
  const auto text = reader.value("OMP_SCHEDULE");
  if (!text) return;
  Icv icv = result.icv;
  std::string_view rest = *text;
  bool is_right = true;
  icv.is_monotonic = false;
  bool has_modifier = false;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const std::string_view modifier = trim(rest.substr(0, colon));
    rest = trim(rest.substr(colon + 1));
    has_modifier = true;
    icv.is_monotonic = is_word(modifier, "monotonic");
    is_right = icv.is_monotonic || is_word(modifier, "nonmonotonic");
  }
  const std::size_t comma = rest.find(',');
  const std::string_view kind = trim(rest.substr(0, comma));
  static constexpr std::pair<const char*, Schedule> words[] = {{"static", Schedule::fixed},
                                                               {"dynamic", Schedule::dynamic},
                                                               {"guided", Schedule::guided},
                                                               {"auto", Schedule::automatic}};
  bool is_known = false;
  for (const auto& [word, schedule] : words) {
    if (!is_word(kind, word)) continue;
    icv.schedule = schedule;
    is_known = true;
  }
  if (!has_modifier) icv.is_monotonic = icv.schedule == Schedule::fixed;
  icv.chunk = icv.schedule == Schedule::fixed || icv.schedule == Schedule::automatic ? 0 : 1;
  if (comma != std::string_view::npos) {
    const auto chunk = read_number(trim(rest.substr(comma + 1)));
    is_right = is_right && chunk && *chunk >= 1 &&
               *chunk <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
    if (is_right && icv.schedule != Schedule::automatic)
      icv.chunk = static_cast<std::int64_t>(*chunk);
  }
  if (is_right && is_known) {
    result.icv = icv;
  } else {
    reader.report("OMP_SCHEDULE",
                  "[monotonic:|nonmonotonic:]static, dynamic, guided or auto, with an optional "
                  ",CHUNK of at least 1",
                  "dynamic");
  }
}

void read_stack(Reader& reader, const char* name, Environment& result) {
  const auto text = reader.value(name);
  if (!text) return;
  std::string_view digits = *text;
  std::uint64_t unit = 1024;
  if (!digits.empty()) {
    static constexpr std::pair<char, std::uint64_t> units[] = {
        {'b', 1}, {'k', 1024}, {'m', 1024 * 1024}, {'g', 1024 * 1024 * 1024}};
    for (const auto& [letter, bytes] : units) {
      if ((digits.back() | 0x20) != letter) continue;
      unit = bytes;
      digits = trim(digits.substr(0, digits.size() - 1));
      break;
    }
  }
  constexpr std::uint64_t bytes_min = 16 * 1024;
  constexpr std::uint64_t bytes_max = std::uint64_t{1} << 40;
  const auto number = read_number(digits);
  if (number && *number <= bytes_max / unit && *number * unit >= bytes_min) {
    result.stack_bytes = static_cast<std::size_t>(*number * unit);
  } else {
    reader.report(name, "a size of at least 16K: a number and B, K, M or G",
                  "the system's default");
  }
}

void read_wait_policy(Reader& reader, Environment& result) {
  const auto text = reader.value("OMP_WAIT_POLICY");
  if (!text) return;
  result.is_wait_given = is_word(*text, "active") || is_word(*text, "passive");
  result.is_wait_active = is_word(*text, "active");
  // An invalid value is reported with the settings of loops.
}

void read_display(Reader& reader, Environment& result) {
  const auto text = reader.value("OMP_DISPLAY_ENV");
  if (!text) return;
  if (is_word(*text, "true") || is_word(*text, "1")) {
    result.display = Display::yes;
  } else if (is_word(*text, "verbose")) {
    result.display = Display::verbose;
  } else if (!is_word(*text, "false") && !is_word(*text, "0")) {
    reader.report("OMP_DISPLAY_ENV", "true, false or verbose", "false");
  }
}

/// Settings of the helpers: the program's number of threads is not the number that run.
governor::Settings read_loop_settings(const governor::Lookup& lookup, std::uint32_t cpus) {
  const auto others = [&](const char* name) -> const char* {
    static constexpr std::string_view ours[] = {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT",
                                                "OMP_DYNAMIC"};
    for (const std::string_view mine : ours) {
      if (mine == name) return nullptr;
    }
    return lookup(name);
  };
  governor::Settings settings = governor::read_settings(others, cpus, 512);
  settings.limits.has_fibers = true;
  return settings;
}

std::atomic<std::uint32_t> thread_limit{0};

Environment read_own_environment() {
  const auto lookup = [](const char* name) -> const char* { return ::secure_getenv(name); };
  const auto cpus = static_cast<std::uint32_t>(std::max<std::size_t>(os::allowed_cpus().size(), 1));
  Environment result = read_environment(lookup, cpus);
  for (const std::string& diagnostic : result.diagnostics)
    std::fprintf(stderr, "sorrel: %s\n", diagnostic.c_str());
  if (result.display != Display::no)
    std::fputs(describe(result, result.display == Display::verbose).c_str(), stderr);
  thread_limit.store(result.thread_limit, std::memory_order_relaxed);
  return result;
}

const char* name_of(Schedule schedule) {
  static constexpr const char* names[] = {"STATIC", "DYNAMIC", "GUIDED", "AUTO"};
  return names[static_cast<std::size_t>(schedule) - static_cast<std::size_t>(Schedule::fixed)];
}

const char* name_of(Bind bind) {
  static constexpr const char* names[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
  return names[static_cast<std::size_t>(bind)];
}

}  // namespace

Environment read_environment(const governor::Lookup& lookup, std::uint32_t cpus) {
  Environment result;
  result.cpus = cpus;
  result.icv.thread_count = cpus;
  result.icv.chunk = 1;
  Reader reader(lookup, result);
  read_thread_counts(reader, result);
  read_binds(reader, result);
  bool is_nested = false;
  if (reader.value("OMP_NESTED")) {
    reader.flag("OMP_NESTED", is_nested);
    result.icv.active_levels_max = is_nested ? active_levels_supported : 1;
  }
  std::uint32_t levels = result.icv.active_levels_max;
  if (reader.number("OMP_MAX_ACTIVE_LEVELS", 0U, std::numeric_limits<std::uint32_t>::max() - 1,
                    levels))
    result.icv.active_levels_max = std::min(levels, active_levels_supported);
  reader.flag("OMP_DYNAMIC", result.icv.is_dynamic);
  reader.flag("OMP_CANCELLATION", result.can_cancel);
  reader.flag("OMP_DISPLAY_AFFINITY", result.displays_affinity);
  reader.number("OMP_THREAD_LIMIT", 1U, std::numeric_limits<std::uint32_t>::max(),
                result.thread_limit);
  reader.number("OMP_MAX_TASK_PRIORITY", 0, std::numeric_limits<std::int32_t>::max(),
                result.task_priority_max);
  reader.number("OMP_DEFAULT_DEVICE", 0, std::numeric_limits<std::int32_t>::max(),
                result.icv.default_device);
  read_schedule(reader, result);
  read_stack(reader, "GOMP_STACKSIZE", result);
  read_stack(reader, "OMP_STACKSIZE", result);
  read_wait_policy(reader, result);
  read_display(reader, result);
  if (const auto format = reader.value("OMP_AFFINITY_FORMAT"); format && !format->empty())
    result.affinity_format = *format;
  result.loop_settings = read_loop_settings(lookup, cpus);
  for (const std::string& diagnostic : result.loop_settings.diagnostics)
    result.diagnostics.push_back(diagnostic);
  return result;
}

std::string describe(const Environment& environment, bool is_verbose) {
  const Icv& icv = environment.icv;
  std::string text = "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    text += "  " + name + " = '" + value + "'\n";
  };
  std::string counts = std::to_string(icv.thread_count);
  for (std::size_t i = 1; i < environment.thread_counts.size(); ++i)
    counts += "," + std::to_string(environment.thread_counts[i]);
  std::string binds = name_of(icv.bind);
  for (std::size_t i = 1; i < environment.binds.size(); ++i)
    binds += std::string(",") + name_of(environment.binds[i]);
  std::string schedule = name_of(icv.schedule);
  const bool has_default_chunk =
      icv.chunk == (icv.schedule == Schedule::fixed || icv.schedule == Schedule::automatic ? 0 : 1);
  if (icv.is_monotonic != (icv.schedule == Schedule::fixed))
    schedule = (icv.is_monotonic ? "MONOTONIC:" : "NONMONOTONIC:") + schedule;
  if (!has_default_chunk) schedule += "," + std::to_string(icv.chunk);
  line("_OPENMP", "201511");
  line("OMP_DYNAMIC", icv.is_dynamic ? "TRUE" : "FALSE");
  line("OMP_NESTED", icv.active_levels_max > 1 ? "TRUE" : "FALSE");
  line("OMP_NUM_THREADS", counts);
  line("OMP_SCHEDULE", schedule);
  line("OMP_PROC_BIND", binds);
  line("OMP_PLACES", "");
  line("OMP_STACKSIZE", std::to_string(environment.stack_bytes));
  line("OMP_WAIT_POLICY", environment.is_wait_active ? "ACTIVE" : "PASSIVE");
  line("OMP_THREAD_LIMIT", std::to_string(environment.thread_limit));
  line("OMP_MAX_ACTIVE_LEVELS", std::to_string(icv.active_levels_max));
  line("OMP_NUM_TEAMS", "0");
  line("OMP_TEAMS_THREAD_LIMIT", "0");
  line("OMP_CANCELLATION", environment.can_cancel ? "TRUE" : "FALSE");
  line("OMP_DEFAULT_DEVICE", std::to_string(icv.default_device));
  line("OMP_MAX_TASK_PRIORITY", std::to_string(environment.task_priority_max));
  line("OMP_DISPLAY_AFFINITY", environment.displays_affinity ? "TRUE" : "FALSE");
  line("OMP_AFFINITY_FORMAT", environment.affinity_format);
  line("OMP_ALLOCATOR", "omp_default_mem_alloc");
  line("OMP_TARGET_OFFLOAD", "DEFAULT");
  if (is_verbose) {
    static constexpr const char* shares[] = {"fair", "yielding", "fixed"};
    line("SORREL_SHARE", shares[static_cast<std::size_t>(environment.loop_settings.limits.share)]);
    line("GOMP_CPU_AFFINITY", "");
    line("GOMP_STACKSIZE", std::to_string(environment.stack_bytes));
  }
  return text + "OPENMP DISPLAY ENVIRONMENT END\n";
}

const Environment& environment() {
  static const Environment own = read_own_environment();
  return own;
}

std::uint32_t thread_limit_now() {
  // Relaxed: a number by itself.
  const std::uint32_t limit = thread_limit.load(std::memory_order_relaxed);
  return limit == 0 ? environment().thread_limit : limit;
}

void set_thread_limit(std::uint32_t limit) {
  thread_limit.store(limit, std::memory_order_relaxed);
}

void inherit_next_level(Icv& icv, std::uint32_t level) {
  const Environment& own = environment();
  if (level < own.thread_counts.size()) icv.thread_count = own.thread_counts[level];
  if (level < own.binds.size()) icv.bind = own.binds[level];
}

}  // namespace sorrel::omp
