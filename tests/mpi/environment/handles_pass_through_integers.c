// A handle converted to an integer and back is unchanged; predefined handles are the integers of
// the standard ABI. A request can be converted without completing it.
#include "../check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  CHECK_EQUAL(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
  CHECK(MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
  CHECK(MPI_Comm_fromint(1 << 30) == MPI_COMM_NULL);
  CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int number = MPI_Comm_toint(comm);
  CHECK(number >= 0x1000);
  CHECK_EQUAL(MPI_Comm_toint(comm), number);
  CHECK(MPI_Comm_fromint(number) == comm);

  int in = -1, flag = 1, indx, count, indices[2];
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(&in, 1, MPI_INT, (me + size - 1) % size, 0, comm, &requests[1]);
  MPI_Request_get_status_any(2, requests, &indx, &flag, MPI_STATUS_IGNORE);
  MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE);
  if (size == 1) CHECK_EQUAL(flag, 0);
  MPI_Send(&me, 1, MPI_INT, (me + 1) % size, 0, comm);
  for (flag = 0; !flag;)
    MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(in, (me + size - 1) % size);
  CHECK(requests[1] != MPI_REQUEST_NULL);
  MPI_Status status;
  MPI_Request_get_status_any(2, requests, &indx, &flag, &status);
  CHECK_EQUAL(indx, 1);
  CHECK_EQUAL(status.MPI_SOURCE, (me + size - 1) % size);
  MPI_Request_get_status_some(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(count, 1);
  CHECK_EQUAL(indices[0], 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_get_status_some(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
