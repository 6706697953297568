// Ranks that a program starts, and groups that meet. MPI 5.0, 11.8 to 11.10; docs/decisions/0036.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/job/ports.hpp"
#include "mpi/job/spawn.hpp"
#include "runtime/joined_socket.hpp"

namespace sorrel::abi::body {

namespace {

using mpi::PortTable;
using mpi::SpawnCommand;

/// Whether text fits with its end.
bool fits(const std::string& text, std::size_t bytes_max) {
  return text.size() < bytes_max;
}

int check_service(RankState& self, const char* service_name, MPI_Info info) {
  SORREL_NOT_NULL(service_name);
  return check_info(self, info);
}

int check_port(RankState& self, const char* port_name, MPI_Info info) {
  SORREL_NOT_NULL(port_name);
  return check_info(self, info);
}

/// Adds the numbers of "a", "a:b" or "a:b:stride" up to `most`. False: it is none of these.
bool add_range(std::string_view text, int most, std::vector<std::int32_t>& counts) {
  std::vector<int> numbers;
  while (true) {
    const std::string_view part = text.substr(0, text.find(':'));
    int number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size()) return false;
    numbers.push_back(number);
    if (part.size() == text.size()) break;
    text.remove_prefix(part.size() + 1);
  }
  if (numbers.size() > 3) return false;
  const int first = numbers.front();
  const int last = numbers.size() > 1 ? numbers[1] : first;
  const int step = numbers.size() > 2 ? numbers[2] : 1;
  if (step == 0) return false;
  for (long long number = first; step > 0 ? number <= last : number >= last; number += step) {
    if (number >= 0 && number <= most) counts.push_back(static_cast<std::int32_t>(number));
    if (number > most && step > 0) break;
  }
  return true;
}

/// The info key "soft": ranges, separated by commas.
int read_soft(RankState& self, std::string_view text, SpawnCommand& command) {
  while (true) {
    const std::string_view range = text.substr(0, text.find(','));
    if (!add_range(range, command.rank_count, command.soft_counts))
      return self.fail(MPI_ERR_INFO_VALUE, "the info key soft is not a list of a, a:b or a:b:c");
    if (range.size() == text.size()) break;
    text.remove_prefix(range.size() + 1);
  }
  std::ranges::sort(command.soft_counts);
  return MPI_SUCCESS;
}

int read_errhandler(RankState& self, const std::string& name, SpawnCommand& command) {
  if (name == "mpi_errors_are_fatal") {
    command.errhandler = MPI_ERRORS_ARE_FATAL;
  } else if (name == "mpi_errors_abort") {
    command.errhandler = MPI_ERRORS_ABORT;
  } else if (name == "mpi_errors_return") {
    command.errhandler = MPI_ERRORS_RETURN;
  } else {
    return self.fail(MPI_ERR_INFO_VALUE, "the info key mpi_initial_errhandler is '%.64s'",
                     name.c_str());
  }
  return MPI_SUCCESS;
}

/// The keys that are known; others are hints.
int read_spawn_info(RankState& self, MPI_Info handle, SpawnCommand& command) {
  if (const int error = check_info(self, handle); error != MPI_SUCCESS) return error;
  if (handle == MPI_INFO_NULL) return MPI_SUCCESS;
  const mpi::Info& info = *mpi::info_of(handle);
  if (const std::string* value = info.find("wdir")) command.directory = *value;
  if (const std::string* value = info.find("path")) command.search_path = *value;
  if (const std::string* value = info.find("soft")) {
    if (const int error = read_soft(self, *value, command); error != MPI_SUCCESS) return error;
  }
  if (const std::string* value = info.find("mpi_initial_errhandler"))
    return read_errhandler(self, *value, command);
  return MPI_SUCCESS;
}

/// A program of a spawn; significant at the root.
int read_command(RankState& self,
                 const char* command,
                 char** arguments,
                 int maxprocs,
                 MPI_Info info,
                 SpawnCommand& read) {
  SORREL_NOT_NULL(command);
  if (maxprocs < 0)
    return self.fail(MPI_ERR_ARG, "maxprocs is %d; it must not be negative", maxprocs);
  read.program = command;
  read.rank_count = maxprocs;
  for (char** word = arguments; word != nullptr && *word != nullptr; ++word)
    read.arguments.emplace_back(*word);
  return read_spawn_info(self, info, read);
}

/// For all members: `error` is that of the root's arguments.
int spawn(RankState& self,
          Comm& comm,
          const std::vector<SpawnCommand>& commands,
          int error,
          int root,
          MPI_Comm* intercomm,
          int errors[]) {
  mpi::SpawnResult result;
  error = comm_spawn(self, comm, commands, error, root, result);
  if (errors != MPI_ERRCODES_IGNORE) std::ranges::copy(result.errors, errors);
  *intercomm = result.comm == nullptr ? MPI_COMM_NULL : mpi::handle_of(*result.comm);
  return error;
}

int meet(RankState& self,
         Comm& comm,
         const char* port_name,
         MPI_Info info,
         int root,
         PortTable::Side side,
         MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  // An error of the root is one of all members, which do not know its arguments. Other ranks of the
  // worker may fail meanwhile.
  int error = comm.rank == root ? check_port(self, port_name, info) : MPI_SUCCESS;
  const std::string reason = error == MPI_SUCCESS ? "" : self.detail().text();
  Comm* made = nullptr;
  error = meet_at_port(self, comm, error, port_name, side, root, &made);
  if (!reason.empty() && error != MPI_SUCCESS) return self.fail(error, "%s", reason.c_str());
  if (made != nullptr) *newcomm = mpi::handle_of(*made);
  return error;
}

/// Copies text to a string of the program.
int give_port_name(RankState& self, const std::string& name, char* port_name) {
  if (!fits(name, MPI_MAX_PORT_NAME))
    return self.fail(MPI_ERR_INTERN, "the name of a port is too long");
  std::memcpy(port_name, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

}  // namespace

int Comm_spawn(RankState& self,
               Comm& comm,
               const char* command,
               char* argv[],
               int maxprocs,
               MPI_Info info,
               int root,
               MPI_Comm* intercomm,
               int array_of_errcodes[]) {
  std::vector<SpawnCommand> commands;
  int error = MPI_SUCCESS;
  if (comm.rank == root)
    error = read_command(self, command, argv, maxprocs, info, commands.emplace_back());
  return spawn(self, comm, commands, error, root, intercomm, array_of_errcodes);
}

int Comm_spawn_multiple(RankState& self,
                        Comm& comm,
                        int count,
                        char* array_of_commands[],
                        char** array_of_argv[],
                        const int array_of_maxprocs[],
                        const MPI_Info array_of_info[],
                        int root,
                        MPI_Comm* intercomm,
                        int array_of_errcodes[]) {
  std::vector<SpawnCommand> commands;
  int error = MPI_SUCCESS;
  if (comm.rank == root) {
    if (count <= 0) {
      error = self.fail(MPI_ERR_ARG, "count is %d; it must be positive", count);
    } else if (array_of_commands == nullptr || array_of_maxprocs == nullptr ||
               array_of_info == nullptr) {
      error = self.fail(MPI_ERR_ARG, "an array with an element for each command is null");
    }
    for (int i = 0; i < count && error == MPI_SUCCESS; ++i) {
      char** const arguments = array_of_argv == MPI_ARGVS_NULL ? nullptr : array_of_argv[i];
      error = read_command(self, array_of_commands[i], arguments, array_of_maxprocs[i],
                           array_of_info[i], commands.emplace_back());
    }
  }
  return spawn(self, comm, commands, error, root, intercomm, array_of_errcodes);
}

int Comm_accept(RankState& self,
                Comm& comm,
                const char* port_name,
                MPI_Info info,
                int root,
                MPI_Comm* newcomm) {
  return meet(self, comm, port_name, info, root, PortTable::Side::accept, newcomm);
}

int Comm_connect(RankState& self,
                 Comm& comm,
                 const char* port_name,
                 MPI_Info info,
                 int root,
                 MPI_Comm* newcomm) {
  return meet(self, comm, port_name, info, root, PortTable::Side::connect, newcomm);
}

int Comm_join(RankState& self, int fd, MPI_Comm* intercomm) {
  *intercomm = MPI_COMM_NULL;
  PortTable& ports = mpi::ports_of(self).own();
  const runtime::JoinOffer own{
      .job = ports.job(), .rank = self.world_rank, .ticket = ports.new_ticket()};
  runtime::JoinOffer theirs;
  const std::string reason = runtime::exchange_offers(*self.worker, fd, own, theirs);
  if (!reason.empty()) return self.fail(MPI_ERR_ARG, "fd: %s", reason.c_str());
  // With a rank of another job no communication can be established: not an error.
  if (theirs.job != own.job) return MPI_SUCCESS;
  if (theirs.rank == own.rank)
    return self.fail(MPI_ERR_ARG, "fd: the socket leads back to the calling rank");
  Comm* made = nullptr;
  const int error = mpi::join_rank(self, theirs.rank, std::min(own.ticket, theirs.ticket), &made);
  if (made != nullptr) *intercomm = mpi::handle_of(*made);
  return error;
}

int Open_port(RankState& self, MPI_Info info, char* port_name) {
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  return give_port_name(self, mpi::ports_of(self).own().open(self.world_rank), port_name);
}

int Close_port(RankState& self, const char* port_name) {
  SORREL_NOT_NULL(port_name);
  return mpi::close_port(self, port_name);
}

int Publish_name(RankState& self, const char* service_name, MPI_Info info, const char* port_name) {
  if (const int error = check_service(self, service_name, info); error != MPI_SUCCESS) return error;
  SORREL_NOT_NULL(port_name);
  if (!fits(port_name, MPI_MAX_PORT_NAME))
    return self.fail(MPI_ERR_PORT, "port_name is longer than MPI_MAX_PORT_NAME");
  if (mpi::ports_of(self).publish(service_name, port_name)) return MPI_SUCCESS;
  return self.fail(MPI_ERR_SERVICE, "service_name is '%.64s', which is published already",
                   service_name);
}

int Unpublish_name(RankState& self,
                   const char* service_name,
                   MPI_Info info,
                   const char* port_name) {
  if (const int error = check_service(self, service_name, info); error != MPI_SUCCESS) return error;
  SORREL_NOT_NULL(port_name);
  if (mpi::ports_of(self).unpublish(service_name)) return MPI_SUCCESS;
  return self.fail(MPI_ERR_SERVICE, "service_name is '%.64s', which is not published",
                   service_name);
}

int Lookup_name(RankState& self, const char* service_name, MPI_Info info, char* port_name) {
  if (const int error = check_service(self, service_name, info); error != MPI_SUCCESS) return error;
  const auto port = mpi::ports_of(self).lookup(service_name);
  if (port) return give_port_name(self, *port, port_name);
  return self.fail(MPI_ERR_NAME, "service_name is '%.64s', which is not published", service_name);
}

}  // namespace sorrel::abi::body
