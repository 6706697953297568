#include "omp/icv/places.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sorrel::omp {

namespace {

/// Numbers beyond it belong to no machine; more places and longer ones are refused.
constexpr int number_max = 65535;

/// The places of a list have at most so many. Longer lists are refused: a short text may stand for
/// a very long one.
constexpr std::size_t processors_max = std::size_t{1} << 20;

/// Reads a text from its beginning. Blanks between its parts count for nothing.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) { skip_blanks(); }

  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }

  [[nodiscard]] bool sees_letter() const {
    return !rest_.empty() && std::isalpha(static_cast<unsigned char>(rest_.front())) != 0;
  }

  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    skip_blanks();
    return true;
  }

  /// A word of letters and _, in lower case; "": there is none.
  std::string word() {
    std::string found;
    while (!rest_.empty() &&
           (std::isalpha(static_cast<unsigned char>(rest_.front())) != 0 || rest_.front() == '_')) {
      found += static_cast<char>(std::tolower(static_cast<unsigned char>(rest_.front())));
      rest_.remove_prefix(1);
    }
    skip_blanks();
    return found;
  }

  std::optional<int> number() {
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 0 || value > number_max) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    skip_blanks();
    return value;
  }

  std::optional<int> signed_number() {
    const bool is_negative = take('-');
    if (!is_negative) (void)take('+');
    const auto value = number();
    if (!value) return std::nullopt;
    return is_negative ? -*value : *value;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
      rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

/// [:length[:stride]]
struct Interval {
  int length = 1;
  int stride = 1;
};

std::optional<Interval> take_interval(Scanner& scanner) {
  Interval interval;
  if (!scanner.take(':')) return interval;
  const auto length = scanner.number();
  if (!length || *length == 0) return std::nullopt;
  interval.length = *length;
  if (!scanner.take(':')) return interval;
  const auto stride = scanner.signed_number();
  if (!stride) return std::nullopt;
  interval.stride = *stride;
  return interval;
}

/// The i-th number from `first` on; -1 if no processor has it.
int number_at(int first, int i, int stride) {
  const std::int64_t number = first + std::int64_t{i} * stride;
  return number < 0 || number > number_max ? -1 : static_cast<int>(number);
}

void add(Place& place, int cpu) {
  const auto at = std::ranges::lower_bound(place, cpu);
  if (at == place.end() || *at != cpu) place.insert(at, cpu);
}

/// The processors between braces.
std::optional<Place> take_set(Scanner& scanner) {
  Place place;
  Place excluded;
  do {
    const bool is_excluded = scanner.take('!');
    const auto first = scanner.number();
    if (!first) return std::nullopt;
    const auto interval = take_interval(scanner);
    if (!interval) return std::nullopt;
    for (int i = 0; i < interval->length; ++i) {
      const int cpu = number_at(*first, i, interval->stride);
      if (cpu >= 0) add(is_excluded ? excluded : place, cpu);
    }
  } while (scanner.take(','));
  if (!scanner.take('}')) return std::nullopt;
  std::erase_if(place, [&](int cpu) { return std::ranges::binary_search(excluded, cpu); });
  return place;
}

/// `processors_left` is how many processors the list may still have.
bool take_place(Scanner& scanner, std::vector<Place>& places, std::size_t& processors_left) {
  const bool is_excluded = scanner.take('!');
  Place place;
  if (scanner.take('{')) {
    auto set = take_set(scanner);
    if (!set) return false;
    place = std::move(*set);
  } else {
    const auto cpu = scanner.number();
    if (!cpu) return false;
    place = {*cpu};
  }
  const auto interval = take_interval(scanner);
  if (!interval) return false;
  const std::size_t listed = place.size() * static_cast<std::size_t>(interval->length);
  if (listed > processors_left) return false;
  processors_left -= listed;
  for (int i = 0; i < interval->length; ++i) {
    Place moved;
    for (const int cpu : place) {
      const int other = number_at(cpu, i, interval->stride);
      if (other >= 0) moved.push_back(other);
    }
    if (is_excluded) {
      std::erase(places, moved);
    } else if (!moved.empty()) {
      places.push_back(std::move(moved));
    }
  }
  return true;
}

std::optional<PlaceRequest> take_kind(Scanner& scanner) {
  using Kind = PlaceRequest::Kind;
  static constexpr std::array<std::pair<std::string_view, Kind>, 5> kinds{
      {{"threads", Kind::threads},
       {"cores", Kind::cores},
       {"ll_caches", Kind::caches},
       {"sockets", Kind::sockets},
       {"numa_domains", Kind::nodes}}};
  const std::string word = scanner.word();
  const auto* const found =
      std::ranges::find_if(kinds, [&](const auto& kind) { return kind.first == word; });
  if (found == kinds.end()) return std::nullopt;
  PlaceRequest request{.kind = found->second, .places = {}};
  if (!scanner.take('(')) return request;
  const auto count = scanner.number();
  if (!count || *count == 0 || !scanner.take(')')) return std::nullopt;
  request.count_max = static_cast<std::uint32_t>(*count);
  return request;
}

/// A list of processors and ranges, "3" or "1-2" or "4-15:2", up to a closing bracket or the end.
bool take_cpus(Scanner& scanner, std::vector<Place>& places) {
  const auto first = scanner.number();
  if (!first) return false;
  int last = *first;
  int stride = 1;
  if (scanner.take('-')) {
    const auto given = scanner.number();
    if (!given || *given < *first) return false;
    last = *given;
    if (scanner.take(':')) {
      const auto step = scanner.number();
      if (!step || *step == 0) return false;
      stride = *step;
    }
  }
  for (int cpu = *first; cpu <= last; cpu += stride)
    places.push_back({cpu});
  return true;
}

std::optional<Bind> bind_of(std::string_view word) {
  if (word == "true") return Bind::any;
  if (word == "master" || word == "primary") return Bind::primary;
  if (word == "close") return Bind::close;
  if (word == "spread") return Bind::spread;
  return std::nullopt;
}

/// proclist=[0,3,{1,2},4-7]
bool take_proclist(Scanner& scanner, std::vector<Place>& places) {
  if (!scanner.take('[')) return false;
  do {
    if (scanner.take('{')) {
      auto set = take_set(scanner);
      if (!set) return false;
      places.push_back(std::move(*set));
    } else if (!take_cpus(scanner, places)) {
      return false;
    }
  } while (scanner.take(','));
  return scanner.take(']');
}

int group_of(const os::Processor& processor, PlaceRequest::Kind kind) {
  switch (kind) {
    case PlaceRequest::Kind::cores:
      return processor.core;
    case PlaceRequest::Kind::caches:
      return processor.cache;
    case PlaceRequest::Kind::sockets:
      return processor.socket;
    case PlaceRequest::Kind::nodes:
      return processor.node;
    case PlaceRequest::Kind::given:
    case PlaceRequest::Kind::threads:
      break;
  }
  return processor.cpu;
}

/// More threads than places: neighbours by number share a place, the first ones from the master's
/// on have one more.
void share_places(const MemberPlace& master, bool are_apart, std::span<MemberPlace> members) {
  const auto size = static_cast<std::uint32_t>(members.size());
  const std::uint32_t each = size / master.count;
  const std::uint32_t rest = size % master.count;
  std::uint32_t index = 0;
  for (std::uint32_t k = 0; k < master.count; ++k) {
    const std::uint32_t number = master.first + (master.number - master.first + k) % master.count;
    for (std::uint32_t i = 0; i < each + (k < rest ? 1 : 0); ++i)
      members[index++] = are_apart ? MemberPlace{number, number, 1}
                                   : MemberPlace{number, master.first, master.count};
  }
}

/// Every thread gets a part of the master's places, and the first place in it.
void spread(const MemberPlace& master, std::span<MemberPlace> members) {
  const auto size = static_cast<std::uint32_t>(members.size());
  const std::uint32_t each = master.count / size;
  const std::uint32_t rest = master.count % size;
  const auto part = [&](std::uint32_t i) {
    const std::uint32_t first = master.first + i * each + std::min(i, rest);
    return MemberPlace{first, first, each + (i < rest ? 1 : 0)};
  };
  std::uint32_t own = 0;
  while (master.number >= part(own).first + part(own).count)
    ++own;
  for (std::uint32_t i = 0; i < size; ++i)
    members[i] = part((own + i) % size);
  members[0].number = master.number;
}

}  // namespace

std::optional<PlaceRequest> read_places(std::string_view text) {
  Scanner scanner(text);
  if (scanner.sees_letter()) {
    auto request = take_kind(scanner);
    return scanner.is_at_end() ? request : std::nullopt;
  }
  PlaceRequest request;
  std::size_t processors_left = processors_max;
  do {
    if (!take_place(scanner, request.places, processors_left) || request.places.size() > number_max)
      return std::nullopt;
  } while (scanner.take(','));
  if (!scanner.is_at_end()) return std::nullopt;
  return request;
}

std::optional<PlaceRequest> read_cpu_affinity(std::string_view text) {
  Scanner scanner(text);
  PlaceRequest request;
  do {
    if (!take_cpus(scanner, request.places)) return std::nullopt;
    (void)scanner.take(',');
  } while (!scanner.is_at_end());
  return request;
}

std::optional<std::vector<Bind>> read_bind(std::string_view text) {
  Scanner scanner(text);
  std::vector<Bind> binds;
  do {
    const std::string word = scanner.word();
    if (word == "false" && binds.empty() && scanner.is_at_end()) return std::vector{Bind::none};
    const auto bind = bind_of(word);
    if (!bind) return std::nullopt;
    binds.push_back(*bind);
  } while (scanner.take(','));
  if (!scanner.is_at_end()) return std::nullopt;
  return binds;
}

namespace {

/// How a type of KMP_AFFINITY binds threads; nothing: the word is no such type.
std::optional<Bind> bind_of_kmp_type(std::string_view word) {
  if (word == "compact" || word == "explicit") return Bind::close;
  if (word == "scatter" || word == "balanced") return Bind::spread;
  return std::nullopt;
}

/// What may stand behind "granularity=".
std::optional<PlaceRequest::Kind> grain_of(std::string_view word) {
  if (word == "fine" || word == "thread") return PlaceRequest::Kind::threads;
  if (word == "core") return PlaceRequest::Kind::cores;
  return std::nullopt;
}

/// Words of KMP_AFFINITY that change neither places nor their order.
bool is_without_effect(std::string_view word) {
  constexpr std::string_view words[] = {"none",     "disabled",   "verbose", "noverbose",
                                        "warnings", "nowarnings", "respect", "norespect",
                                        "reset",    "noreset"};
  return std::ranges::find(words, word) != std::end(words);
}

}  // namespace

std::optional<KmpAffinity> read_kmp_affinity(std::string_view text) {
  Scanner scanner(text);
  KmpAffinity affinity;
  affinity.places.kind = PlaceRequest::Kind::cores;
  std::vector<Place> listed;
  bool is_explicit = false;
  do {
    if (!scanner.sees_letter()) {
      // Permute and offset: the order of places is left as it is.
      if (scanner.number() != 0) return std::nullopt;
      continue;
    }
    const std::string word = scanner.word();
    if (word == "granularity") {
      if (!scanner.take('=')) return std::nullopt;
      const auto grain = grain_of(scanner.word());
      if (!grain) return std::nullopt;
      affinity.places.kind = *grain;
    } else if (word == "proclist") {
      if (!scanner.take('=') || !take_proclist(scanner, listed)) return std::nullopt;
    } else if (const auto bind = bind_of_kmp_type(word)) {
      affinity.bind = *bind;
      is_explicit = is_explicit || word == "explicit";
    } else if (!is_without_effect(word)) {
      return std::nullopt;
    }
  } while (scanner.take(','));
  if (!scanner.is_at_end() || is_explicit != !listed.empty()) return std::nullopt;
  if (is_explicit) affinity.places = {.places = std::move(listed)};
  return affinity;
}

std::vector<Place> find_places(const PlaceRequest& request,
                               std::span<const os::Processor> allowed) {
  std::vector<Place> places;
  if (request.kind == PlaceRequest::Kind::given) {
    const auto is_allowed = [&](int cpu) {
      return std::ranges::any_of(
          allowed, [cpu](const os::Processor& processor) { return processor.cpu == cpu; });
    };
    for (const Place& given : request.places) {
      Place place;
      std::ranges::copy_if(given, std::back_inserter(place), is_allowed);
      if (!place.empty()) places.push_back(std::move(place));
    }
    return places;
  }
  // In the order of their first processors.
  std::map<int, std::size_t> groups;
  for (const os::Processor& processor : allowed) {
    const auto [at, is_new] = groups.try_emplace(group_of(processor, request.kind), places.size());
    if (is_new) places.emplace_back();
    add(places[at->second], processor.cpu);
  }
  if (places.size() > request.count_max) places.resize(request.count_max);
  return places;
}

void distribute(Bind bind, const MemberPlace& master, std::span<MemberPlace> members) {
  const auto size = static_cast<std::uint32_t>(members.size());
  const bool is_alone = size == 1;
  if (is_alone || bind == Bind::none || bind == Bind::primary) {
    std::ranges::fill(members, master);
  } else if (size > master.count) {
    share_places(master, bind == Bind::spread, members);
  } else if (bind == Bind::spread) {
    spread(master, members);
  } else {
    for (std::uint32_t i = 0; i < size; ++i)
      members[i] = {master.first + (master.number - master.first + i) % master.count, master.first,
                    master.count};
  }
}

}  // namespace sorrel::omp
