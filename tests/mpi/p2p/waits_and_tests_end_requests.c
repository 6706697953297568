// Every way to wait for requests and to test them: each completion is reported once, with its index
// and status; null and inactive requests are ignored; persistent ones stay.
#include "../check.h"

enum { count = 12 };

static int me, partner;
static int in[count], out[count];
static MPI_Request requests[2 * count];
static MPI_Status statuses[2 * count];

/// Receives into the even elements, sends from the odd ones.
static void start_all(void) {
  for (int i = 0; i < count; i++) {
    in[i] = -1;
    out[i] = 1000 * me + i;
    MPI_Irecv(&in[i], 1, MPI_INT, partner, i, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(&out[i], 1, MPI_INT, partner, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
}

static void check_one(int index, const MPI_Status* status) {
  CHECK(requests[index] == MPI_REQUEST_NULL);
  if (index % 2 == 1) return;
  CHECK_EQUAL(status->MPI_SOURCE, partner);
  CHECK_EQUAL(status->MPI_TAG, index / 2);
  CHECK_EQUAL(in[index / 2], 1000 * partner + index / 2);
}

static void check_empty(const MPI_Status* status) {
  int elements = -1, cancelled = 1;
  CHECK_EQUAL(status->MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQUAL(status->MPI_TAG, MPI_ANY_TAG);
  MPI_Get_count(status, MPI_INT, &elements);
  CHECK_EQUAL(elements, 0);
  MPI_Test_cancelled(status, &cancelled);
  CHECK_EQUAL(cancelled, 0);
}

static void wait_one_by_one(void) {
  start_all();
  for (int i = 2 * count - 1; i >= 0; i--) {
    MPI_Status status;
    MPI_Wait(&requests[i], &status);
    check_one(i, &status);
  }
}

static void test_one_by_one(void) {
  start_all();
  for (int i = 0; i < 2 * count; i++) {
    MPI_Status status;
    int flag = 0;
    while (!flag)
      MPI_Test(&requests[i], &flag, &status);
    check_one(i, &status);
  }
}

static void wait_for_all_at_once(void) {
  start_all();
  MPI_Waitall(2 * count, requests, statuses);
  for (int i = 0; i < 2 * count; i++)
    check_one(i, &statuses[i]);
}

static void test_all_at_once(void) {
  int flag = 0;
  start_all();
  while (!flag)
    MPI_Testall(2 * count, requests, &flag, statuses);
  for (int i = 0; i < 2 * count; i++)
    check_one(i, &statuses[i]);
}

static void wait_for_any_until_none_is_left(int is_test) {
  start_all();
  for (int left = 2 * count; left > 0; left--) {
    MPI_Status status;
    int index = -1, flag = 0;
    if (is_test) {
      while (!flag)
        MPI_Testany(2 * count, requests, &index, &flag, &status);
    } else {
      MPI_Waitany(2 * count, requests, &index, &status);
    }
    CHECK(index >= 0 && index < 2 * count);
    check_one(index, &status);
  }
  MPI_Status status;
  int index = 0, flag = 0;
  MPI_Waitany(2 * count, requests, &index, &status);
  CHECK_EQUAL(index, MPI_UNDEFINED);
  check_empty(&status);
  MPI_Testany(2 * count, requests, &index, &flag, &status);
  CHECK_EQUAL(index, MPI_UNDEFINED);
  CHECK_EQUAL(flag, 1);
  check_empty(&status);
}

static void wait_for_some_until_none_is_left(int is_test) {
  int indices[2 * count], done = 0, total = 0;
  start_all();
  while (total < 2 * count) {
    if (is_test) {
      MPI_Testsome(2 * count, requests, &done, indices, statuses);
      CHECK(done >= 0);
    } else {
      MPI_Waitsome(2 * count, requests, &done, indices, statuses);
      CHECK(done >= 1);
    }
    for (int i = 0; i < done; i++)
      check_one(indices[i], &statuses[i]);
    total += done;
  }
  CHECK_EQUAL(total, 2 * count);
  MPI_Waitsome(2 * count, requests, &done, indices, statuses);
  CHECK_EQUAL(done, MPI_UNDEFINED);
  MPI_Testsome(2 * count, requests, &done, indices, statuses);
  CHECK_EQUAL(done, MPI_UNDEFINED);
}

static void null_requests_are_complete(void) {
  MPI_Request nothing[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  int flag = 0;
  MPI_Wait(&nothing[0], &status);
  check_empty(&status);
  MPI_Test(&nothing[0], &flag, &status);
  CHECK_EQUAL(flag, 1);
  check_empty(&status);
  MPI_Waitall(3, nothing, statuses);
  for (int i = 0; i < 3; i++)
    check_empty(&statuses[i]);
  flag = 0;
  MPI_Testall(3, nothing, &flag, statuses);
  CHECK_EQUAL(flag, 1);
  flag = 0;
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
  CHECK_EQUAL(flag, 1);
  check_empty(&status);
  flag = 0;
  MPI_Parrived(MPI_REQUEST_NULL, 0, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  int index = 0;
  MPI_Waitany(0, NULL, &index, &status);
  CHECK_EQUAL(index, MPI_UNDEFINED);
}

static void inactive_requests_are_complete(void) {
  MPI_Request idle[2];
  MPI_Status status;
  int flag = 0, index = 0;
  MPI_Recv_init(&in[0], 1, MPI_INT, partner, 0, MPI_COMM_WORLD, &idle[0]);
  MPI_Send_init(&out[0], 1, MPI_INT, partner, 0, MPI_COMM_WORLD, &idle[1]);
  MPI_Wait(&idle[0], &status);
  check_empty(&status);
  MPI_Test(&idle[1], &flag, &status);
  CHECK_EQUAL(flag, 1);
  check_empty(&status);
  MPI_Waitany(2, idle, &index, &status);
  CHECK_EQUAL(index, MPI_UNDEFINED);
  MPI_Waitall(2, idle, statuses);
  flag = 0;
  MPI_Testall(2, idle, &flag, statuses);
  CHECK_EQUAL(flag, 1);
  // One active round, then inactive again.
  for (int round = 0; round < 3; round++) {
    out[0] = 50 * me + round;
    MPI_Startall(2, idle);
    MPI_Waitall(2, idle, statuses);
    CHECK_EQUAL(in[0], 50 * partner + round);
    CHECK(idle[0] != MPI_REQUEST_NULL && idle[1] != MPI_REQUEST_NULL);
    MPI_Wait(&idle[0], &status);
    check_empty(&status);
  }
  MPI_Request_free(&idle[0]);
  MPI_Request_free(&idle[1]);
}

static void asking_does_not_end_a_request(void) {
  MPI_Request request;
  MPI_Status status;
  int flag = 1, value = 0, elements;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Irecv(&value, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, &request);
  MPI_Request_get_status(request, &flag, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&me, 1, MPI_INT, partner, 3, MPI_COMM_WORLD);
  for (int round = 0; round < 2; round++) {
    flag = 0;
    while (!flag)
      MPI_Request_get_status(request, &flag, &status);
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_EQUAL(status.MPI_SOURCE, partner);
    CHECK_EQUAL(status.MPI_TAG, 3);
    MPI_Get_count(&status, MPI_INT, &elements);
    CHECK_EQUAL(elements, 1);
  }
  CHECK_EQUAL(value, partner);
  MPI_Wait(&request, &status);
  CHECK_EQUAL(status.MPI_SOURCE, partner);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  partner = size_of(MPI_COMM_WORLD) - 1 - me;
  wait_one_by_one();
  test_one_by_one();
  wait_for_all_at_once();
  test_all_at_once();
  wait_for_any_until_none_is_left(0);
  wait_for_any_until_none_is_left(1);
  wait_for_some_until_none_is_left(0);
  wait_for_some_until_none_is_left(1);
  null_requests_are_complete();
  inactive_requests_are_complete();
  asking_does_not_end_a_request();
  MPI_Finalize();
  return 0;
}
