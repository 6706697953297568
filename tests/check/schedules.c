/* Two senders, and a receiver that expects their order if the argument is `wrong`; with `deadlock`
 * it waits for ever in the other order. With `ticket`, the rank that comes first at a window ends
 * with a status of its own. With `once`, the first run leaves a request behind. With `hang`, rank 0
 * expects a message that no rank sends; with `spin`, it computes without end; with `again`, it does
 * so in the second run, and leaves its process's number behind. With `fails`, it ends with the
 * status that follows, or 4, in every order. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int take_ticket(int rank) {
  int counter = 0;
  int ticket = 0;
  const int one = 1;
  MPI_Win win;
  MPI_Win_create(&counter, rank == 0 ? sizeof counter : 0, sizeof counter, MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  return ticket;
}

static void leave_request_once(int rank) {
  static int value;
  MPI_Request request;
  const int file = rank == 0 ? open("ran", O_CREAT | O_EXCL | O_WRONLY, 0600) : -1;
  if (file < 0) return;
  close(file);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
}

/// The first run only leaves a file.
static void spin_in_the_second_run(int rank) {
  const int first = rank == 0 ? open("first", O_CREAT | O_EXCL | O_WRONLY, 0600) : 0;
  if (first >= 0) return;
  FILE* second = fopen("second.new", "w");
  fprintf(second, "%d\n", (int)getpid());
  fclose(second);
  rename("second.new", "second");
  for (volatile int spins = 1; spins;)
    continue;
}

int main(int argc, char** argv) {
  int rank, value = 0, status = 0;
  MPI_Status first;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "ticket") == 0 && take_ticket(rank) == 0) status = rank;
  if (strcmp(how, "once") == 0) leave_request_once(rank);
  if (strcmp(how, "again") == 0) spin_in_the_second_run(rank);
  if (strcmp(how, "fails") == 0 && rank == 0) status = argc > 2 ? atoi(argv[2]) : 4;
  if (strcmp(how, "hang") == 0 && rank == 0)
    MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (volatile int spins = strcmp(how, "spin") == 0 && rank == 0; spins;)
    continue;
  if (strcmp(how, "ordered") == 0 || strcmp(how, "ticket") == 0 || strcmp(how, "once") == 0) {
    if (rank == 0) {
      MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else if (rank == 0) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &first);
    const int other = strcmp(how, "deadlock") == 0 ? 2 : MPI_ANY_SOURCE;
    MPI_Recv(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "wrong") == 0 && first.MPI_SOURCE != 1) status = 5;
  }
  if (rank != 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}
