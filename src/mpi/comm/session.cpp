#include "mpi/comm/session.hpp"

#include <algorithm>

namespace sorrel::mpi {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::shared_ptr<const Group> group_of_set(std::string_view name,
                                          const std::shared_ptr<const Group>& world,
                                          std::int32_t world_rank) {
  if (is_same(name, process_sets[0])) return world;
  return is_same(name, process_sets[1]) ? Group::of({world_rank}) : nullptr;
}

}  // namespace sorrel::mpi
