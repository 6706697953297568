#include "runtime/wait_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <dlfcn.h>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/request.hpp"
#include "mpi/match/wait.hpp"
#include "runtime/source_lines.hpp"

namespace sorrel::runtime {

namespace {

using mpi::RankState;
using mpi::Request;
using mpi::WaitRecord;
using Run = WaitTable::Run;

/// One operation that a rank waits for.
struct Wait {
  const mpi::Comm* comm = nullptr;
  const char* direction = "";
  std::int32_t peer = MPI_UNDEFINED;  ///< Rank of the communicator, or MPI_ANY_SOURCE.
  std::int32_t tag = MPI_UNDEFINED;
  std::int32_t other_count = 0;  ///< Further requests of the same call.
};

Wait wait_of(const RankState& rank) {
  const WaitRecord& note = rank.wait;
  Wait wait;
  // A note still holds what earlier waits of another kind have written into it.
  if (note.kind == WaitRecord::Kind::collective) wait.comm = note.comm;
  if (note.kind == WaitRecord::Kind::probe) {
    wait.comm = note.comm;
    wait.direction = "from";
    wait.peer = rank.wait_detail.peer;
    wait.tag = rank.wait_detail.tag;
  }
  if (note.kind != WaitRecord::Kind::requests) return wait;
  const mpi::RequestList list{rank.wait_detail.requests, rank.wait_detail.request_count};
  for (std::int32_t i = 0; i < list.count; ++i) {
    const Request* request = list[i];
    if (request == nullptr || request->completion.is_done()) continue;
    // No rank waits for a persistent request that has not been started.
    if (request->life == Request::Life::persistent && !request->is_active) continue;
    if (wait.comm != nullptr) {
      ++wait.other_count;
      continue;
    }
    wait.comm = request->comm;
    wait.direction = request->kind == Request::Kind::receive ? "from" : "to";
    wait.peer = request->peer;
    wait.tag = request->tag;
  }
  return wait;
}

std::string name_of(const RankState& rank, const mpi::Comm* comm) {
  if (comm == nullptr) return "-";
  if (comm == &rank.world_comm) return "MPI_COMM_WORLD";
  if (comm == &rank.self_comm) return "MPI_COMM_SELF";
  if (comm->name != nullptr && !comm->name->empty()) return *comm->name;
  return text_of("communicator %u (%d ranks)", comm->shared->context(), comm->size());
}

std::string name_of_peer(const Wait& wait) {
  std::string name = "-";
  if (wait.peer == MPI_ANY_SOURCE) {
    name = "from any";
  } else if (wait.peer != MPI_UNDEFINED) {
    name = text_of("%s %d", wait.direction, wait.peer);
  }
  if (wait.other_count > 0) name += text_of(" +%d more", wait.other_count);
  return name;
}

std::string explanation_of(const RankState& rank) {
  const mpi::WaitExplanation& given = rank.wait_explanation;
  if (given.explain == nullptr) return {};
  std::array<char, 512> text{};
  given.explain(given.argument, text.data(), text.size());
  text.back() = '\0';
  return text.data();
}

RankWait describe(const RankState& rank) {
  const Wait wait = wait_of(rank);
  RankWait description{.rank = rank.world_rank,
                       .call = rank.call,
                       .peer = name_of_peer(wait),
                       .tag = wait.tag == MPI_ANY_TAG ? "any" : "-",
                       .comm = name_of(rank, wait.comm),
                       .place = {},
                       .explanation = explanation_of(rank),
                       .awaited = {},
                       .collective = {}};
  if (wait.tag >= 0) description.tag = std::to_string(wait.tag);
  if (wait.comm == nullptr) return description;
  const mpi::CommShared& shared = *wait.comm->shared;
  if (rank.wait.kind == WaitRecord::Kind::collective) {
    description.collective = shared.context();
  } else if (wait.peer >= 0) {
    description.awaited = shared.group()->world_rank(wait.peer);
  }
  return description;
}

/// The fields of a line are separated by tabs.
std::string as_field(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

std::string_view take_field(std::string_view& line, char separator = '\t') {
  const std::string_view field = line.substr(0, line.find(separator));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

template <class Number>
std::optional<Number> number_in(std::string_view field) {
  Number number{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  return error == std::errc{} && end == field.data() + field.size() ? std::optional(number)
                                                                    : std::nullopt;
}

std::string as_field(const std::vector<Run>& runs) {
  std::string text;
  for (const Run& run : runs)
    text += text_of("%d-%d,", run.first, run.last);
  return text;
}

/// "0-3,7,9-9,"
std::vector<Run> runs_in(std::string_view field) {
  std::vector<Run> runs;
  while (!field.empty()) {
    std::string_view run = take_field(field, ',');
    const auto first = number_in<std::int32_t>(take_field(run, '-'));
    const auto last = run.empty() ? first : number_in<std::int32_t>(run);
    if (first && last) runs.push_back({.first = *first, .last = *last});
  }
  return runs;
}

void append(std::vector<Run>& runs, std::int32_t rank) {
  if (!runs.empty() && runs.back().last + 1 == rank) {
    runs.back().last = rank;
  } else {
    runs.push_back({.first = rank, .last = rank});
  }
}

template <class Number>
std::string as_field(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "-";
}

/// All fields of a line except its ranks.
std::string fields_of(const RankWait& wait) {
  std::string text;
  for (const std::string& field : {wait.call, wait.peer, wait.tag, wait.comm, wait.place})
    text += "\t" + as_field(field);
  text += "\t" + as_field(wait.awaited) + "\t" + as_field(wait.collective);
  if (!wait.explanation.empty()) text += "\t" + as_field(wait.explanation);
  return text;
}

/// Where the program called MPI: in a Fortran binding, where the program called that.
const void* call_site_of(const RankState& rank) {
  const sorrel_fortran_calls* fortran =
      rank.services_if_used == nullptr ? nullptr : rank.services_if_used->fortran_calls;
  if (fortran == nullptr) return rank.call_site;
  const auto* site = static_cast<const char*>(rank.call_site);
  const bool is_in_binding = site >= fortran->begin && site < fortran->end;
  return is_in_binding ? fortran->site : rank.call_site;
}

/// The places of calls: the same place in many ranks' images is one entry.
class CallSites {
 public:
  /// The index in addresses(); beyond its end for places that are too many to be looked up.
  std::size_t index_of(const void* site) {
    Dl_info file{};
    const bool is_known = site != nullptr && dladdr(site, &file) != 0 && file.dli_fname != nullptr;
    const auto offset =
        reinterpret_cast<std::uintptr_t>(site) - reinterpret_cast<std::uintptr_t>(file.dli_fbase);
    const auto [found, is_new] =
        indices_.try_emplace({is_known ? file.dli_fname : "", offset}, indices_.size());
    if (is_new && addresses_.size() < count_max) addresses_.push_back(site);
    return found->second;
  }

  [[nodiscard]] const std::vector<const void*>& addresses() const { return addresses_; }

 private:
  static constexpr std::size_t count_max = 64;

  std::map<std::pair<std::string, std::uintptr_t>, std::size_t> indices_;
  std::vector<const void*> addresses_;
};

}  // namespace

WaitTable WaitTable::of(const Worlds& worlds) {
  WaitTable table;
  CallSites sites;
  std::vector<std::size_t> site_of;
  for (const auto& world : worlds) {
    for (std::int32_t i = world->first_own_rank(); i < world->last_own_rank(); ++i) {
      const RankState& rank = world->rank(i);
      if (rank.fiber.state != core::FiberState::waiting) continue;
      table.waits_.push_back(describe(rank));
      site_of.push_back(sites.index_of(call_site_of(rank)));
    }
    table.add_members(*world);
  }
  const std::vector<std::string> places = source_lines(sites.addresses());
  for (std::size_t i = 0; i < site_of.size(); ++i)
    table.waits_[i].place = site_of[i] < places.size() ? places[site_of[i]] : "-";
  return table;
}

/// Adds the members of the communicators in whose collectives ranks of `world` wait.
void WaitTable::add_members(const mpi::World& world) {
  for (std::int32_t i = world.first_own_rank(); i < world.last_own_rank(); ++i) {
    const RankState& rank = *world.ranks()[i];
    const bool is_in_collective = rank.fiber.state == core::FiberState::waiting &&
                                  rank.wait.kind == WaitRecord::Kind::collective;
    if (!is_in_collective) continue;
    const mpi::CommShared& shared = *rank.wait.comm->shared;
    std::vector<Run>& runs = members_[shared.context()];
    if (!runs.empty()) continue;
    for (std::int32_t member = 0; member < shared.size(); ++member)
      append(runs, shared.group()->world_rank(member));
  }
}

std::string WaitTable::text(std::size_t bytes_max) const {
  std::string text;
  // Room for the line about the ranks that do not fit.
  constexpr std::size_t reserved_bytes = 48;
  Run left_out{.first = std::numeric_limits<std::int32_t>::max(), .last = -1};
  const auto append_line = [&](const std::string& line) {
    const bool fits = text.size() + line.size() + reserved_bytes <= bytes_max;
    if (fits) text += line;
    return fits;
  };
  for (const auto& [context, runs] : members_)
    append_line(text_of("members\t%u\t", context) + as_field(runs) + "\n");
  for (const auto& [ranks, fields] : lines()) {
    if (append_line("wait\t" + as_field(ranks) + fields + "\n")) continue;
    left_out.first = std::min(left_out.first, ranks.front().first);
    left_out.last = std::max(left_out.last, ranks.back().last);
  }
  if (left_out.last >= 0) text += text_of("unknown\t%d-%d,\n", left_out.first, left_out.last);
  return text;
}

/// Groups ranks with the same fields, those of the fewest runs first, so that lines that do not fit
/// are those of many ranks.
std::vector<WaitTable::Line> WaitTable::lines() const {
  std::map<std::string, std::size_t> index_of;
  std::vector<Line> lines;
  for (const RankWait& wait : waits_) {
    std::string fields = fields_of(wait);
    const auto [found, is_new] = index_of.try_emplace(fields, lines.size());
    if (is_new) lines.push_back({.ranks = {}, .fields = std::move(fields)});
    append(lines[found->second].ranks, wait.rank);
  }
  const auto rank_count = [](const Line& line) {
    std::int32_t count = 0;
    for (const Run& run : line.ranks)
      count += run.last - run.first + 1;
    return count;
  };
  std::ranges::stable_sort(lines, {}, rank_count);
  return lines;
}

void WaitTable::add(std::string_view text) {
  while (!text.empty())
    add_line(take_field(text, '\n'));
  sort();
}

void WaitTable::add_line(std::string_view line) {
  const std::string_view kind = take_field(line);
  if (kind == "members") {
    const auto context = number_in<std::uint32_t>(take_field(line));
    if (context && members_[*context].empty()) members_[*context] = runs_in(line);
    return;
  }
  const std::vector<Run> ranks = runs_in(take_field(line));
  if (kind == "unknown") {
    unknown_.insert(unknown_.end(), ranks.begin(), ranks.end());
    return;
  }
  RankWait wait;
  for (std::string* field : {&wait.call, &wait.peer, &wait.tag, &wait.comm, &wait.place})
    *field = take_field(line);
  wait.awaited = number_in<std::int32_t>(take_field(line));
  wait.collective = number_in<std::uint32_t>(take_field(line));
  wait.explanation = line;
  for (const Run& run : ranks) {
    for (wait.rank = run.first; wait.rank <= run.last; ++wait.rank)
      waits_.push_back(wait);
  }
}

void WaitTable::sort() {
  std::ranges::sort(waits_, {}, &RankWait::rank);
}

void WaitTable::add_unknown(std::int32_t first, std::int32_t last) {
  unknown_.push_back({.first = first, .last = last - 1});
}

std::int32_t WaitTable::unknown_count() const {
  std::int32_t count = 0;
  for (const Run& run : unknown_) {
    for (std::int32_t rank = run.first; rank <= run.last; ++rank)
      count += wait_of(rank) == nullptr ? 1 : 0;
  }
  return count;
}

bool WaitTable::is_unknown(std::int32_t rank) const {
  return wait_of(rank) == nullptr && std::ranges::any_of(unknown_, [&](const Run& run) {
           return rank >= run.first && rank <= run.last;
         });
}

const RankWait* WaitTable::wait_of(std::int32_t rank) const {
  const auto found = std::ranges::lower_bound(waits_, rank, {}, &RankWait::rank);
  return found != waits_.end() && found->rank == rank ? &*found : nullptr;
}

std::optional<std::int32_t> WaitTable::first_absent(std::uint32_t context) const {
  const auto members = members_.find(context);
  if (members == members_.end()) return std::nullopt;
  for (const Run& run : members->second) {
    for (std::int32_t rank = run.first; rank <= run.last; ++rank) {
      if (is_unknown(rank)) continue;
      const RankWait* member = wait_of(rank);
      if (member == nullptr || member->collective != context) return rank;
    }
  }
  return std::nullopt;
}

}  // namespace sorrel::runtime
