// Ranks that were spawned outlive the process that has the published names, the first one: then no
// name is published, no port of that process is open, and no call waits for ever. Needs two ranks
// in two processes; the last one spawns.
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "spawn.h"

static int child(MPI_Comm parent) {
  char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
  int process = 0;
  MPI_Comm inter;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Recv(&process, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
  MPI_Recv(port, sizeof port, MPI_CHAR, 0, 0, parent, MPI_STATUS_IGNORE);
  CHECK(process != (int)getpid());
  CHECK_EQUAL(MPI_Lookup_name("first", MPI_INFO_NULL, found), MPI_SUCCESS);
  CHECK_EQUAL(strcmp(port, found), 0);
  MPI_Comm_disconnect(&parent);
  while (kill(process, 0) == 0 || errno != ESRCH)
    usleep(1000);
  CHECK_EQUAL(class_of(MPI_Lookup_name("first", MPI_INFO_NULL, found)), MPI_ERR_NAME);
  CHECK_EQUAL(class_of(MPI_Unpublish_name("first", MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
  CHECK_EQUAL(class_of(MPI_Close_port(port)), MPI_ERR_PORT);
  CHECK_EQUAL(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)),
              MPI_ERR_PORT);
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = parent_of_world(), inter;
  if (parent != MPI_COMM_NULL) return child(parent);
  const int last = size_of(MPI_COMM_WORLD) - 1;
  char port[MPI_MAX_PORT_NAME] = "";
  int process = (int)getpid();
  if (rank_in(MPI_COMM_WORLD) == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("first", MPI_INFO_NULL, port);
  }
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == last) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                   MPI_ERRCODES_IGNORE);
    MPI_Send(&process, 1, MPI_INT, 0, 0, inter);
    MPI_Send(port, sizeof port, MPI_CHAR, 0, 0, inter);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
