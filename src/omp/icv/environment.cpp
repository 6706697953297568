#include "omp/icv/environment.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <strings.h>

#include "os/cpu_set.hpp"
#include "os/loaded_libraries.hpp"

namespace sorrel::omp {

namespace {

/// By number, from 1.
constexpr const char* predefined_allocators[] = {"omp_default_mem_alloc", "omp_large_cap_mem_alloc",
                                                 "omp_const_mem_alloc",   "omp_high_bw_mem_alloc",
                                                 "omp_low_lat_mem_alloc", "omp_cgroup_mem_alloc",
                                                 "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};

constexpr auto teams_max = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());

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

/// One of the variables that bind threads, as read; nothing if it is not given or wrong.
template <class Read>
auto read_or_report(
    Reader& reader, const char* name, Read read, const char* allowed, const char* instead)
    -> decltype(read(std::string_view())) {
  const auto text = reader.value(name);
  if (!text) return std::nullopt;
  auto result = read(*text);
  if (!result) reader.report(name, allowed, instead);
  return result;
}

void read_binding(Reader& reader, Environment& result) {
  const auto binds = read_or_report(
      reader, "OMP_PROC_BIND", read_bind,
      "false, true, or a list of primary, close and spread with commas between", "false");
  const auto places = read_or_report(
      reader, "OMP_PLACES", read_places,
      "threads, cores, ll_caches, sockets or numa_domains, or a list of places such as "
      "{0:4},{4:4}, with at most 1048576 processors in all",
      "none");
  const auto cpus = read_or_report(reader, "GOMP_CPU_AFFINITY", read_cpu_affinity,
                                   "processors and ranges of them, such as 0 3 1-2 4-15:2", "none");
  const auto intel = read_or_report(
      reader, "KMP_AFFINITY", read_kmp_affinity,
      "none, compact, scatter, balanced or explicit with proclist=[...], with granularity=fine or "
      "core",
      "none");
  const auto use = [&](const char* name) {
    result.binding_names += (result.binding_names.empty() ? "" : " and ") + std::string(name);
  };
  result.places.kind = PlaceRequest::Kind::threads;
  if (intel && !places && !cpus && !binds) {
    result.binds = {intel->bind};
    result.places = intel->places;
    use("KMP_AFFINITY");
    return;
  }
  if (binds) {
    result.binds = *binds;
    use("OMP_PROC_BIND");
    if (binds->size() > 1) result.icv.active_levels_max = active_levels_supported;
  } else if (places || cpus) {
    result.binds = {Bind::any};
  }
  if (places) {
    result.places = *places;
    use("OMP_PLACES");
  } else if (cpus) {
    result.places = *cpus;
    use("GOMP_CPU_AFFINITY");
  }
}

/// Number of a predefined allocator.
void read_allocator(Reader& reader, Environment& result) {
  const auto text = reader.value("OMP_ALLOCATOR");
  if (!text) return;
  const auto* const found = std::ranges::find_if(
      predefined_allocators, [&](const char* name) { return is_word(*text, name); });
  if (found != std::end(predefined_allocators)) {
    result.allocator = static_cast<std::uintptr_t>(found - predefined_allocators) + 1;
  } else {
    reader.report("OMP_ALLOCATOR", "a predefined allocator, such as omp_large_cap_mem_alloc",
                  predefined_allocators[0]);
  }
}

void read_offload(Reader& reader, Environment& result) {
  const auto text = reader.value("OMP_TARGET_OFFLOAD");
  if (!text) return;
  if (is_word(*text, "mandatory")) {
    result.offload = Offload::mandatory;
  } else if (is_word(*text, "disabled")) {
    result.offload = Offload::disabled;
  } else if (!is_word(*text, "default")) {
    reader.report("OMP_TARGET_OFFLOAD", "default, mandatory or disabled", "default");
  }
}

/// The chunk of run-sched-var, unless one is given. LLVM's library reports 1 for auto, where it has
/// no effect.
std::int64_t chunk_of(Schedule schedule, Convention convention) {
  if (schedule == Schedule::fixed) return 0;
  return schedule == Schedule::automatic && convention == Convention::gnu ? 0 : 1;
}

void read_schedule(Reader& reader, Environment& result) {
  const auto text = reader.value("OMP_SCHEDULE");
  if (!text) return;
  Icv icv = result.icv;
  const bool is_gnu = result.convention == Convention::gnu;
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
  if (!has_modifier) icv.is_monotonic = is_gnu && icv.schedule == Schedule::fixed;
  icv.chunk = chunk_of(icv.schedule, result.convention);
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
                  is_gnu ? "dynamic" : "static");
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

Environment read_own_environment() {
  const auto lookup = [](const char* name) -> const char* { return ::secure_getenv(name); };
  const auto cpus = static_cast<std::uint32_t>(std::max<std::size_t>(os::allowed_cpus().size(), 1));
  // A library that only a later module needs is not known here: such a process follows GCC's.
  const bool is_llvm = !os::is_needed("libgomp.so.1") &&
                       (os::is_needed("libomp.so.5") || os::is_needed("libiomp5.so"));
  Environment result = read_environment(lookup, cpus, is_llvm ? Convention::llvm : Convention::gnu);
  for (const std::string& diagnostic : result.diagnostics)
    std::fprintf(stderr, "sorrel: %s\n", diagnostic.c_str());
  if (result.display != Display::no)
    std::fputs(describe(result, result.display == Display::verbose).c_str(), stderr);
  return result;
}

std::string describe_binds(const std::vector<Bind>& binds) {
  static constexpr const char* names[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
  std::string text;
  for (const Bind bind : binds)
    text += (text.empty() ? "" : ",") + std::string(names[static_cast<std::size_t>(bind)]);
  return text.empty() ? names[0] : text;
}

std::string describe(const PlaceRequest& request) {
  static constexpr const char* kinds[] = {"",          "threads", "cores",
                                          "ll_caches", "sockets", "numa_domains"};
  if (request.kind != PlaceRequest::Kind::given) {
    const std::string kind = kinds[static_cast<std::size_t>(request.kind)];
    return request.count_max == ~0U ? kind : kind + "(" + std::to_string(request.count_max) + ")";
  }
  std::string text;
  for (const Place& place : request.places)
    text += (text.empty() ? "{" : ",{") + os::format_cpu_list(place) + "}";
  return text;
}

const char* name_of(Schedule schedule) {
  static constexpr const char* names[] = {"STATIC", "DYNAMIC", "GUIDED", "AUTO"};
  return names[static_cast<std::size_t>(schedule) - static_cast<std::size_t>(Schedule::fixed)];
}

}  // namespace

Environment read_environment(const governor::Lookup& lookup,
                             std::uint32_t cpus,
                             Convention convention) {
  Environment result;
  result.convention = convention;
  if (convention == Convention::llvm) {
    result.icv.schedule = Schedule::fixed;
    result.affinity_format = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}";
  }
  result.cpus = cpus;
  result.icv.thread_count = cpus;
  result.icv.chunk = chunk_of(result.icv.schedule, convention);
  Reader reader(lookup, result);
  read_thread_counts(reader, result);
  read_binding(reader, result);
  if (reader.value("KMP_HW_SUBSET"))
    result.diagnostics.emplace_back("KMP_HW_SUBSET is not supported, and ignored");
  bool is_nested = false;
  if (reader.value("OMP_NESTED")) {
    reader.flag("OMP_NESTED", is_nested);
    result.icv.active_levels_max = is_nested ? active_levels_supported : std::uint8_t{1};
  }
  std::uint32_t levels = result.icv.active_levels_max;
  if (reader.number("OMP_MAX_ACTIVE_LEVELS", 0U, std::numeric_limits<std::uint32_t>::max() - 1,
                    levels))
    result.icv.active_levels_max =
        static_cast<std::uint8_t>(std::min<std::uint32_t>(levels, active_levels_supported));
  reader.flag("OMP_DYNAMIC", result.icv.is_dynamic);
  reader.flag("OMP_CANCELLATION", result.can_cancel);
  reader.flag("OMP_DISPLAY_AFFINITY", result.displays_affinity);
  reader.number("OMP_THREAD_LIMIT", 1U, std::numeric_limits<std::uint32_t>::max(),
                result.icv.thread_limit);
  reader.number("OMP_NUM_TEAMS", 1U, teams_max, result.team_count);
  reader.number("OMP_TEAMS_THREAD_LIMIT", 1U, teams_max, result.teams_thread_limit);
  read_allocator(reader, result);
  read_offload(reader, result);
  reader.number("OMP_MAX_TASK_PRIORITY", 0, std::numeric_limits<std::int32_t>::max(),
                result.task_priority_max);
  reader.flag("KMP_ENABLE_TASK_THROTTLING", result.limits_queues);
  if (!reader.number("OMP_DEFAULT_DEVICE", 0, std::numeric_limits<std::int32_t>::max(),
                     result.icv.default_device) &&
      result.offload == Offload::mandatory)
    result.icv.default_device = no_device;
  read_schedule(reader, result);
  read_stack(reader, "GOMP_STACKSIZE", result);
  read_stack(reader, "OMP_STACKSIZE", result);
  read_wait_policy(reader, result);
  read_display(reader, result);
  result.concerns_affinity = result.displays_affinity || result.requests_binding();
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
  std::string schedule = name_of(icv.schedule);
  const bool has_default_chunk = icv.chunk == chunk_of(icv.schedule, environment.convention);
  const bool is_usual =
      environment.convention == Convention::gnu && icv.schedule == Schedule::fixed;
  if (icv.is_monotonic != is_usual)
    schedule = (icv.is_monotonic ? "MONOTONIC:" : "NONMONOTONIC:") + schedule;
  if (!has_default_chunk) schedule += "," + std::to_string(icv.chunk);
  line("_OPENMP", "201511");
  line("OMP_DYNAMIC", icv.is_dynamic ? "TRUE" : "FALSE");
  line("OMP_NESTED", icv.active_levels_max > 1 ? "TRUE" : "FALSE");
  line("OMP_NUM_THREADS", counts);
  line("OMP_SCHEDULE", schedule);
  line("OMP_PROC_BIND", describe_binds(environment.binds));
  line("OMP_PLACES", environment.requests_binding() ? describe(environment.places) : "");
  line("OMP_STACKSIZE", std::to_string(environment.stack_bytes));
  line("OMP_WAIT_POLICY", environment.is_wait_active ? "ACTIVE" : "PASSIVE");
  line("OMP_THREAD_LIMIT", std::to_string(icv.thread_limit));
  line("OMP_MAX_ACTIVE_LEVELS", std::to_string(icv.active_levels_max));
  line("OMP_NUM_TEAMS", std::to_string(environment.team_count));
  line("OMP_TEAMS_THREAD_LIMIT", std::to_string(environment.teams_thread_limit));
  line("OMP_CANCELLATION", environment.can_cancel ? "TRUE" : "FALSE");
  line("OMP_DEFAULT_DEVICE", std::to_string(icv.default_device));
  line("OMP_MAX_TASK_PRIORITY", std::to_string(environment.task_priority_max));
  line("OMP_DISPLAY_AFFINITY", environment.displays_affinity ? "TRUE" : "FALSE");
  line("OMP_AFFINITY_FORMAT", environment.affinity_format);
  line("OMP_ALLOCATOR", predefined_allocators[environment.allocator - 1]);
  static constexpr const char* offloads[] = {"DEFAULT", "MANDATORY", "DISABLED"};
  line("OMP_TARGET_OFFLOAD", offloads[static_cast<std::size_t>(environment.offload)]);
  if (is_verbose) {
    static constexpr const char* shares[] = {"fair", "yielding", "fixed"};
    line("SORREL_SHARE", shares[static_cast<std::size_t>(environment.loop_settings.limits.share)]);
    line("GOMP_STACKSIZE", std::to_string(environment.stack_bytes));
  }
  return text + "OPENMP DISPLAY ENVIRONMENT END\n";
}

const Environment& environment() {
  static const Environment own = read_own_environment();
  return own;
}

void inherit_next_level(Icv& icv, std::uint32_t level) {
  const Environment& own = environment();
  if (level < own.thread_counts.size()) icv.thread_count = own.thread_counts[level];
}

}  // namespace sorrel::omp
