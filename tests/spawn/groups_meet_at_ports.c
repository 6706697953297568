// Two groups of a job meet at a port: by its name, which is published; several times at the same
// one; with wrong names. Ranks that a socket connects join. Needs two ranks, of one process or of
// several.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawn.h"

static void exchange(MPI_Comm inter, int key) {
  const int rank = rank_in(inter), own = size_of(inter), theirs = remote_size_of(inter);
  int sent = key + rank, sum = -1, received = -1, i;
  MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, inter);
  int expected = 0;
  for (i = 0; i < theirs; i++)
    expected += key + i;
  CHECK_EQUAL(sum, expected);
  if (rank == 0) {
    MPI_Sendrecv(&own, 1, MPI_INT, 0, key, &received, 1, MPI_INT, 0, key, inter, MPI_STATUS_IGNORE);
    CHECK_EQUAL(received, theirs);
  }
}

static void meet(MPI_Comm half, int is_server, const char* port, int key) {
  MPI_Comm inter = MPI_COMM_NULL;
  const int root = size_of(half) - 1;
  // Significant at the root only.
  const char* name = rank_in(half) == root ? port : "nothing";
  if (is_server) {
    MPI_Comm_accept(name, MPI_INFO_NULL, root, half, &inter);
  } else {
    MPI_Comm_connect(name, MPI_INFO_NULL, root, half, &inter);
  }
  exchange(inter, key);
  MPI_Comm merged;
  MPI_Intercomm_merge(inter, is_server, &merged);
  CHECK_EQUAL(size_of(merged), size_of(MPI_COMM_WORLD));
  MPI_Barrier(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
  CHECK(inter == MPI_COMM_NULL);
}

static void wrong_names(MPI_Comm half, int is_server) {
  char port[MPI_MAX_PORT_NAME] = "", again[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_EQUAL(class_of(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, half, &inter)), MPI_ERR_PORT);
  CHECK(inter == MPI_COMM_NULL);
  CHECK_EQUAL(class_of(MPI_Comm_accept("", MPI_INFO_NULL, 0, half, &inter)), MPI_ERR_PORT);
  CHECK_EQUAL(class_of(MPI_Close_port("no port")), MPI_ERR_PORT);
  CHECK_EQUAL(class_of(MPI_Lookup_name("no service", MPI_INFO_NULL, port)), MPI_ERR_NAME);
  CHECK_EQUAL(class_of(MPI_Unpublish_name("no service", MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
  if (is_server && rank_in(half) == 0) {
    CHECK_EQUAL(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Open_port(MPI_INFO_NULL, again), MPI_SUCCESS);
    CHECK(strcmp(port, again) != 0);
    CHECK_EQUAL(MPI_Publish_name("twice", MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQUAL(class_of(MPI_Publish_name("twice", MPI_INFO_NULL, again)), MPI_ERR_SERVICE);
    CHECK_EQUAL(MPI_Unpublish_name("twice", MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Close_port(port), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Close_port(again), MPI_SUCCESS);
    CHECK_EQUAL(class_of(MPI_Close_port(port)), MPI_ERR_PORT);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// A rank that waits at a port gets an error when it is closed.
static void closed_while_waiting(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_WORLD;
  const int rank = rank_in(MPI_COMM_WORLD);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQUAL(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)),
                MPI_ERR_PORT);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  }
  // Any rank may close it; the one that waits may be in another process than this, and the port in
  // a third one.
  if (rank == size_of(MPI_COMM_WORLD) - 1 - (size_of(MPI_COMM_WORLD) == 2)) MPI_Close_port(port);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A socket that waits for one connection, and its number in the machine.
static int listening_socket(int* number) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  const int end = socket(AF_INET, SOCK_STREAM, 0);
  CHECK_EQUAL(bind(end, (struct sockaddr*)&address, sizeof address), 0);
  CHECK_EQUAL(listen(end, 1), 0);
  CHECK_EQUAL(getsockname(end, (struct sockaddr*)&address, &length), 0);
  *number = ntohs(address.sin_port);
  return end;
}

static int connected_socket(int number) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)number),
                                .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  const int end = socket(AF_INET, SOCK_STREAM, 0);
  CHECK_EQUAL(connect(end, (struct sockaddr*)&address, sizeof address), 0);
  return end;
}

static void join(void) {
  const int rank = rank_in(MPI_COMM_WORLD), last = size_of(MPI_COMM_WORLD) - 1;
  int number = 0, waiting = -1, end = -1;
  MPI_Comm inter = MPI_COMM_NULL;
  if (rank == 0) waiting = listening_socket(&number);
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == last) end = connected_socket(number);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) end = accept(waiting, NULL, NULL);
  if (rank == 0 || rank == last) {
    CHECK(end >= 0);
    MPI_Comm_join(end, &inter);
    CHECK(inter != MPI_COMM_NULL);
    exchange(inter, 77);
    MPI_Comm_disconnect(&inter);
    close(end);
  }
  if (rank == 0) close(waiting);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm half;
  int round;
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), is_server = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_server, -rank, &half);
  if (rank == 1) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("halves", MPI_INFO_NULL, port);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Lookup_name("halves", MPI_INFO_NULL, port);
  for (round = 0; round < 20; round++)
    meet(half, is_server, port, 100 * round);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Unpublish_name("halves", MPI_INFO_NULL, port);
    MPI_Close_port(port);
  }
  wrong_names(half, is_server);
  closed_while_waiting();
  join();
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
