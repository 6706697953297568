// Starting and meeting other programs: refused, with the reason (docs/decisions/0019). MPI 5.0,
// 11.8 to 11.10.
#include "abi/body.hpp"
#include "abi/check.hpp"

namespace sorrel::abi::body {

namespace {

constexpr const char* no_ports = "a job of Sorrel has no ports: its ranks are fixed at its start";

int fail_spawn(RankState& self) {
  return self.fail(MPI_ERR_SPAWN,
                   "the ranks of a job are fixed at its start; start the programs together: "
                   "sorrel run -n 4 ./a : -n 2 ./b");
}

int check_port(RankState& self, const char* port_name, MPI_Info info) {
  SORREL_NOT_NULL(port_name);
  return check_info(self, info);
}

int check_service(RankState& self, const char* service_name, MPI_Info info) {
  SORREL_NOT_NULL(service_name);
  return check_info(self, info);
}

/// `port_name` and `info` are significant at the root.
int refuse_meeting(
    RankState& self, const Comm& comm, const char* port_name, MPI_Info info, int root) {
  if (comm.rank == root) {
    if (const int error = check_port(self, port_name, info); error != MPI_SUCCESS) return error;
  }
  return self.fail(MPI_ERR_PORT, "port_name is not an open port: %s", no_ports);
}

/// A program of a spawn; significant at the root.
int check_program(RankState& self, const char* command, int maxprocs, MPI_Info info) {
  SORREL_NOT_NULL(command);
  if (maxprocs < 0)
    return self.fail(MPI_ERR_ARG, "maxprocs is %d; it must not be negative", maxprocs);
  return check_info(self, info);
}

void set_errors(int errors[], int begin, int count) {
  if (errors == MPI_ERRCODES_IGNORE) return;
  for (int i = 0; i < count; ++i)
    errors[begin + i] = MPI_ERR_SPAWN;
}

}  // namespace

int Comm_spawn(RankState& self,
               Comm& comm,
               const char* command,
               char* /*argv*/[],
               int maxprocs,
               MPI_Info info,
               int root,
               MPI_Comm* intercomm,
               int array_of_errcodes[]) {
  *intercomm = MPI_COMM_NULL;
  if (comm.rank == root) {
    if (const int error = check_program(self, command, maxprocs, info); error != MPI_SUCCESS)
      return error;
    set_errors(array_of_errcodes, 0, maxprocs);
  }
  return fail_spawn(self);
}

int Comm_spawn_multiple(RankState& self,
                        Comm& comm,
                        int count,
                        char* array_of_commands[],
                        char** /*array_of_argv*/[],
                        const int array_of_maxprocs[],
                        const MPI_Info array_of_info[],
                        int root,
                        MPI_Comm* intercomm,
                        int array_of_errcodes[]) {
  *intercomm = MPI_COMM_NULL;
  if (comm.rank != root) return fail_spawn(self);
  if (count <= 0) return self.fail(MPI_ERR_ARG, "count is %d; it must be positive", count);
  SORREL_NOT_NULL(array_of_commands);
  SORREL_NOT_NULL(array_of_maxprocs);
  SORREL_NOT_NULL(array_of_info);
  int begin = 0;
  for (int i = 0; i < count; ++i) {
    const int error =
        check_program(self, array_of_commands[i], array_of_maxprocs[i], array_of_info[i]);
    if (error != MPI_SUCCESS) return error;
    set_errors(array_of_errcodes, begin, array_of_maxprocs[i]);
    begin += array_of_maxprocs[i];
  }
  return fail_spawn(self);
}

int Comm_accept(RankState& self,
                Comm& comm,
                const char* port_name,
                MPI_Info info,
                int root,
                MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  return refuse_meeting(self, comm, port_name, info, root);
}

int Comm_connect(RankState& self,
                 Comm& comm,
                 const char* port_name,
                 MPI_Info info,
                 int root,
                 MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  return refuse_meeting(self, comm, port_name, info, root);
}

int Comm_join(RankState& self, int /*fd*/, MPI_Comm* intercomm) {
  *intercomm = MPI_COMM_NULL;
  return self.fail(MPI_ERR_UNSUPPORTED_OPERATION,
                   "Sorrel does not join jobs: the ranks of a job are fixed at its start");
}

int Open_port(RankState& self, MPI_Info info, char* /*port_name*/) {
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  return self.fail(MPI_ERR_UNSUPPORTED_OPERATION, "%s", no_ports);
}

int Close_port(RankState& self, const char* port_name) {
  if (const int error = check_port(self, port_name, MPI_INFO_NULL); error != MPI_SUCCESS)
    return error;
  return self.fail(MPI_ERR_PORT, "port_name is not an open port: %s", no_ports);
}

int Publish_name(RankState& self, const char* service_name, MPI_Info info, const char* port_name) {
  int error = check_service(self, service_name, info);
  if (error == MPI_SUCCESS) error = check_port(self, port_name, MPI_INFO_NULL);
  if (error != MPI_SUCCESS) return error;
  return self.fail(MPI_ERR_PORT, "port_name is not an open port: %s", no_ports);
}

int Unpublish_name(RankState& self,
                   const char* service_name,
                   MPI_Info info,
                   const char* port_name) {
  int error = check_service(self, service_name, info);
  if (error == MPI_SUCCESS) error = check_port(self, port_name, MPI_INFO_NULL);
  if (error != MPI_SUCCESS) return error;
  return self.fail(MPI_ERR_SERVICE, "service_name is '%.64s', which is not published: %s",
                   service_name, no_ports);
}

int Lookup_name(RankState& self, const char* service_name, MPI_Info info, char* /*port_name*/) {
  if (const int error = check_service(self, service_name, info); error != MPI_SUCCESS) return error;
  return self.fail(MPI_ERR_NAME, "service_name is '%.64s', which is not published: %s",
                   service_name, no_ports);
}

}  // namespace sorrel::abi::body
