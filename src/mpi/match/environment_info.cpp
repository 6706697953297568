#include "mpi/match/environment_info.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {
namespace {

/// The arguments of this process's program, separated by spaces; nothing if they are not known.
std::optional<std::string> program_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  if (!file) return std::nullopt;
  std::string words{std::istreambuf_iterator<char>(file), {}};
  if (!words.empty() && words.back() == '\0') words.pop_back();
  const std::size_t end_of_name = words.find('\0');
  if (end_of_name == words.npos) return "";
  words.erase(0, end_of_name + 1);
  std::ranges::replace(words, '\0', ' ');
  return words;
}

Info make_environment_info(const RankState* rank) {
  Info made;
  ErrorDetail detail;
  const bool is_long = std::strlen(program_invocation_name) >= MPI_MAX_INFO_VAL;
  (void)made.set("command", is_long ? program_invocation_short_name : program_invocation_name,
                 detail);
  // A value that does not fit is not given: a part of it would be wrong.
  const std::optional<std::string> arguments = program_arguments();
  if (arguments && arguments->size() < MPI_MAX_INFO_VAL)
    (void)made.set("argv", arguments->c_str(), detail);
  if (rank != nullptr)
    (void)made.set("maxprocs", std::to_string(rank->world->size()).c_str(), detail);
  return made;
}

// What mpiexec would set for this program. Only ranks know the job's size: a process that becomes a
// rank in MPI_Init may read this before.
const Info& environment_info() {
  const RankState* rank = current_rank();
  if (rank == nullptr) {
    static const Info info = make_environment_info(nullptr);
    return info;
  }
  if (rank->spawned != nullptr) return rank->spawned->environment;
  static const Info info = make_environment_info(rank);
  return info;
}

}  // namespace

const Info* info_of(MPI_Info handle) {
  return handle == MPI_INFO_ENV ? &environment_info() : changeable_info_of(handle);
}

}  // namespace sorrel::mpi
