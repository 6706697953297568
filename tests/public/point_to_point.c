// Situations of point-to-point calls that public trackers report (README.md): receives from no
// process, requests that are inactive, arrays of indices, errors of one of several requests, two
// groups.
#include "situations.h"

static void check_null_status(const MPI_Status* status) {
  int count = -1;
  CHECK_EQUAL(status->MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQUAL(status->MPI_TAG, MPI_ANY_TAG);
  MPI_Get_count(status, MPI_INT, &count);
  CHECK_EQUAL(count, 0);
}

static void spoil(MPI_Status* status) {
  status->MPI_SOURCE = 77;
  status->MPI_TAG = 78;
}

// MPICH 6805: the status of a nonblocking receive from MPI_PROC_NULL held zeros.
static void status_of_no_process(void) {
  int value = 5, flag = 0;
  MPI_Request request;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  spoil(&status);
  MUST(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request));
  MUST(MPI_Waitall(1, &request, &status));
  check_null_status(&status);
  spoil(&status);
  MUST(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
  check_null_status(&status);
  spoil(&status);
  MUST(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status));
  CHECK_EQUAL(flag, 1);
  check_null_status(&status);
  spoil(&status);
  MUST(MPI_Mprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
  CHECK(message == MPI_MESSAGE_NO_PROC);
  check_null_status(&status);
  spoil(&status);
  MUST(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
  CHECK(message == MPI_MESSAGE_NULL);
  MUST(MPI_Wait(&request, &status));
  check_null_status(&status);
  CHECK_EQUAL(value, 5);
}

// MPICH 5053: persistent requests whose peer is MPI_PROC_NULL never completed.
static void persistent_requests_of_no_process(void) {
  int value = 6;
  MPI_Request requests[4];
  MPI_Status statuses[4];
  MUST(MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]));
  MUST(MPI_Ssend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]));
  MUST(MPI_Rsend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]));
  MUST(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[3]));
  for (int round = 0; round < 3; round++) {
    MUST(MPI_Startall(4, requests));
    spoil(&statuses[3]);
    MUST(MPI_Waitall(4, requests, statuses));
    check_null_status(&statuses[3]);
  }
  for (int i = 0; i < 4; i++)
    MUST(MPI_Request_free(&requests[i]));
}

// Open MPI 1725 and 2545, MPICH 6334: waits for requests that are all inactive did not return.
static void waits_for_inactive_requests(void) {
  int value = rank, sum = -1;
  MPI_Request requests[4], persistent[3];
  MPI_Status statuses[4];
  MUST(MPI_Recv_init(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]));
  MUST(MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[1]));
  MUST(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]));
  requests[3] = MPI_REQUEST_NULL;
  memcpy(persistent, requests, sizeof persistent);
  int index = 5, flag = 0, done = 5, indices[4];
  spoil(&statuses[0]);
  MUST(MPI_Waitany(4, requests, &index, &statuses[0]));
  CHECK_EQUAL(index, MPI_UNDEFINED);
  CHECK_EQUAL(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQUAL(statuses[0].MPI_TAG, MPI_ANY_TAG);
  MUST(MPI_Waitsome(4, requests, &done, indices, statuses));
  CHECK_EQUAL(done, MPI_UNDEFINED);
  done = 5;
  MUST(MPI_Testsome(4, requests, &done, indices, statuses));
  CHECK_EQUAL(done, MPI_UNDEFINED);
  index = 5;
  MUST(MPI_Testany(4, requests, &index, &flag, &statuses[0]));
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(index, MPI_UNDEFINED);
  flag = 0;
  MUST(MPI_Testall(4, requests, &flag, statuses));
  CHECK_EQUAL(flag, 1);
  MUST(MPI_Waitall(4, requests, statuses));
  for (int i = 0; i < 3; i++) {
    spoil(&statuses[0]);
    MUST(MPI_Wait(&requests[i], &statuses[0]));
    CHECK_EQUAL(statuses[0].MPI_TAG, MPI_ANY_TAG);
    CHECK(requests[i] == persistent[i]);
  }
  // The collectives still work after these waits.
  MUST(MPI_Startall(2, &requests[1]));
  MUST(MPI_Waitall(2, &requests[1], MPI_STATUSES_IGNORE));
  CHECK_EQUAL(sum, size * (size - 1) / 2);
  for (int i = 0; i < 3; i++)
    MUST(MPI_Request_free(&requests[i]));
}

// MPICH 6402: for an empty list of requests MPI_Waitany gave an index other than MPI_UNDEFINED.
static void waits_for_nothing(void) {
  int index = 5, flag = 0, done = 5;
  MPI_Request none[1] = {MPI_REQUEST_NULL};
  for (int count = 0; count < 2; count++) {
    index = done = 5, flag = 0;
    MUST(MPI_Waitany(count, none, &index, MPI_STATUS_IGNORE));
    CHECK_EQUAL(index, MPI_UNDEFINED);
    MUST(MPI_Waitsome(count, none, &done, &index, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(done, MPI_UNDEFINED);
    MUST(MPI_Testany(count, none, &index, &flag, MPI_STATUS_IGNORE));
    CHECK_EQUAL(flag, 1);
    CHECK_EQUAL(index, MPI_UNDEFINED);
    MUST(MPI_Waitall(count, none, MPI_STATUSES_IGNORE));
  }
}

// Open MPI 5268: MPI_Waitsome kept notes in the array of indices, beyond the entries that it
// returns.
static void indices_that_fill_an_array_in_parts(void) {
  enum { count = 24 };

  int values[count], indices[count + 1];
  MPI_Request requests[count];
  for (int i = 0; i < count; i++)
    MPI_Irecv(&values[i], 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i <= count; i++)
    indices[i] = -7;
  int filled = 0;
  for (int part = 0; part < 4; part++) {
    for (int i = part; i < count; i += 4) {
      const int value = 100 * rank + i;
      MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
    }
    while (filled < count / 4 * (part + 1)) {
      int done = 0;
      // The rest of the array may be shorter than the number of requests.
      MUST(MPI_Waitsome(count, requests, &done, indices + filled, MPI_STATUSES_IGNORE));
      CHECK(done > 0 && filled + done <= count);
      filled += done;
      for (int i = filled; i <= count; i++)
        CHECK_EQUAL(indices[i], -7);
    }
  }
  int seen[count] = {0};
  for (int i = 0; i < count; i++)
    seen[indices[i]]++;
  for (int i = 0; i < count; i++) {
    CHECK_EQUAL(seen[i], 1);
    CHECK_EQUAL(values[i], 100 * ((rank + size - 1) % size) + i);
  }
}

// Open MPI 13432: MPI_Waitall and MPI_Testall did not return MPI_ERR_IN_STATUS for a persistent
// receive that was too short.
static void one_of_several_persistent_requests_fails(void) {
  int sent[3] = {1, 2, 3}, short_one = 0, long_one[3] = {0};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Recv_init(&short_one, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(long_one, 3, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 2; round++) {
    MPI_Startall(2, requests);
    MPI_Request sends[2];
    MPI_Isend(sent, 3, MPI_INT, rank, 1, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(sent, 3, MPI_INT, rank, 2, MPI_COMM_WORLD, &sends[1]);
    MUST(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
    int code = MPI_SUCCESS, flag = 0;
    if (round == 0) {
      code = MPI_Waitall(2, requests, statuses);
    } else {
      while (code == MPI_SUCCESS && !flag)
        code = MPI_Testall(2, requests, &flag, statuses);
    }
    CHECK_EQUAL(class_of(code), MPI_ERR_IN_STATUS);
    CHECK_EQUAL(class_of(statuses[0].MPI_ERROR), MPI_ERR_TRUNCATE);
    CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS || statuses[1].MPI_ERROR == MPI_ERR_PENDING);
    MUST(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK_EQUAL(long_one[2], 3);
    CHECK(requests[0] != MPI_REQUEST_NULL);
  }
  MUST(MPI_Request_free(&requests[0]));
  MUST(MPI_Request_free(&requests[1]));
}

// MPICH 4730: a probe on an intercommunicator waited for ever.
static void probes_between_two_groups(void) {
  if (size < 2) return;
  const int is_low = rank < size / 2;
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? size / 2 : 0, 9, &between);
  int others = 0;
  MPI_Comm_remote_size(between, &others);
  // A rank of either group sends to all of the other one; ranks are those of the groups.
  const int own = rank_in(half);
  MPI_Request* requests = malloc((size_t)others * sizeof *requests);
  for (int i = 0; i < others; i++)
    MPI_Isend(&rank, 1, MPI_INT, i, own, between, &requests[i]);
  for (int i = 0; i < others; i++) {
    MPI_Status status;
    MPI_Message message;
    int value = -1;
    if (i % 2 == 0) {
      MUST(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, between, &status));
      MUST(MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, between,
                    MPI_STATUS_IGNORE));
    } else {
      MUST(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, between, &message, &status));
      MUST(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    }
    CHECK_EQUAL(status.MPI_TAG, status.MPI_SOURCE);
    CHECK_EQUAL(value, status.MPI_SOURCE + (is_low ? size / 2 : 0));
  }
  MPI_Waitall(others, requests, MPI_STATUSES_IGNORE);
  free(requests);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const Situation all[] = {
      {"status_of_no_process", status_of_no_process},
      {"persistent_requests_of_no_process", persistent_requests_of_no_process},
      {"waits_for_inactive_requests", waits_for_inactive_requests},
      {"waits_for_nothing", waits_for_nothing},
      {"indices_that_fill_an_array_in_parts", indices_that_fill_an_array_in_parts},
      {"one_of_several_persistent_requests_fails", one_of_several_persistent_requests_fails},
      {"probes_between_two_groups", probes_between_two_groups},
  };
  check_situations(all, COUNT_OF(all), argc, argv);
  MPI_Finalize();
  return 0;
}
