//! Places - sets of processors to which the threads of a team are bound: how users list them, and
//! how threads are distributed over them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "os/processors.hpp"

namespace sorrel::omp {

/// The numbers are omp_proc_bind_t's.
enum class Bind : std::uint8_t { none, any, primary, close, spread };

/// Processors, by number, ascending.
using Place = std::vector<int>;

/// A list as given: places of one kind, or their processors.
struct PlaceRequest {
  enum class Kind : std::uint8_t { given, threads, cores, caches, sockets, nodes };

  Kind kind = Kind::given;
  std::uint32_t count_max = ~0U;  ///< the first ones of a kind
  std::vector<Place> places;

  bool operator==(const PlaceRequest&) const = default;
};

/// OMP_PLACES; nothing if it is wrong.
[[nodiscard]] std::optional<PlaceRequest> read_places(std::string_view text);

/// GOMP_CPU_AFFINITY: "0 3 1-2 4-15:2", a place for each processor.
[[nodiscard]] std::optional<PlaceRequest> read_cpu_affinity(std::string_view text);

/// OMP_PROC_BIND: false, or a policy for each level of nesting.
[[nodiscard]] std::optional<std::vector<Bind>> read_bind(std::string_view text);

/// KMP_AFFINITY. Of its types, `logical` and `physical` are not known.
struct KmpAffinity {
  Bind bind = Bind::none;
  PlaceRequest places;
};

[[nodiscard]] std::optional<KmpAffinity> read_kmp_affinity(std::string_view text);

/// The places of a request, of the allowed processors alone; a place without any is left out.
[[nodiscard]] std::vector<Place> find_places(const PlaceRequest& request,
                                             std::span<const os::Processor> allowed);

/// The place of a thread, and the part of the list in which its own teams are distributed.
struct MemberPlace {
  std::uint32_t number = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 1;

  bool operator==(const MemberPlace&) const = default;
};

/// Fills in the places of a team's members, the first of which is its master's.
void distribute(Bind bind, const MemberPlace& master, std::span<MemberPlace> members);

}  // namespace sorrel::omp
