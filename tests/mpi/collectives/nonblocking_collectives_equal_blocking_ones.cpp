// Many nonblocking collectives on a communicator at once, of every kind, with random arguments, in
// between of blocking ones and of messages, and completed in another order on each rank, give the
// same bits as the blocking ones.
#include <memory>
#include <numeric>

#include "../collective_cases.hpp"

namespace {

int me, ranks;

/// Completes all requests, by functions and in an order that the rank draws.
void complete_all(std::vector<MPI_Request>& requests, uint64_t* own_random) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; i--)
    std::swap(order[i - 1],
              order[static_cast<size_t>(random_below(own_random, static_cast<int>(i)))]);
  std::vector<int> indices(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  int flag = 0, index = 0, done = 0;
  switch (random_below(own_random, 7)) {
    case 0:
      for (const int i : order)
        MPI_Wait(&requests[static_cast<size_t>(i)], MPI_STATUS_IGNORE);
      break;
    case 1:
      for (const int i : order) {
        for (flag = 0; !flag;)
          MPI_Test(&requests[static_cast<size_t>(i)], &flag, &statuses[0]);
      }
      break;
    case 2:
      for (int i = 0; i < count; i++) {
        MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
        CHECK(index >= 0 && index < count);
      }
      break;
    case 3:
      while (done != MPI_UNDEFINED)
        MPI_Waitsome(count, requests.data(), &done, indices.data(), statuses.data());
      break;
    case 4:
      while (!flag)
        MPI_Testall(count, requests.data(), &flag, statuses.data());
      break;
    case 5:
      for (const int i : order) {
        for (flag = 0; !flag;)
          MPI_Request_get_status(requests[static_cast<size_t>(i)], &flag, &statuses[0]);
        int bytes = -1;
        MPI_Get_count(&statuses[0], MPI_BYTE, &bytes);
        CHECK_EQUAL(bytes, 0);
        MPI_Wait(&requests[static_cast<size_t>(i)], MPI_STATUS_IGNORE);
      }
      break;
    default:
      MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  }
  for (const MPI_Request request : requests)
    CHECK(request == MPI_REQUEST_NULL);
}

void round(const Objects& objects, uint64_t* random, uint64_t* own_random, MPI_Comm comm) {
  const int count_max = ranks > 16 ? 300 : 6000;
  const int count = 1 + random_below(random, 11);
  std::vector<std::unique_ptr<Case>> cases;
  for (int i = 0; i < count; i++)
    cases.push_back(std::make_unique<Case>(objects, random, comm, count_max));
  for (const auto& one : cases)
    one->run_blocking();
  std::vector<MPI_Request> requests(cases.size(), MPI_REQUEST_NULL);
  for (size_t i = 0; i < cases.size(); i++) {
    cases[i]->start(&requests[i]);
    switch (random_below(random, 5)) {
      case 0:
        MPI_Barrier(comm);
        break;
      case 1: {
        const int size = size_of(comm), rank = rank_in(comm);
        int from = -1, is_inter;
        MPI_Comm_test_inter(comm, &is_inter);
        if (is_inter) break;
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &from, 1, MPI_INT,
                     (rank + size - 1) % size, 5, comm, MPI_STATUS_IGNORE);
        CHECK_EQUAL(from, (rank + size - 1) % size);
        break;
      }
      case 2: {
        int sum = 0, expected = size_of(comm), is_inter;
        const int one = 1;
        MPI_Comm_test_inter(comm, &is_inter);
        if (is_inter) MPI_Comm_remote_size(comm, &expected);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQUAL(sum, expected);
        break;
      }
      default:
        break;
    }
  }
  complete_all(requests, own_random);
  for (const auto& one : cases)
    one->check();
}

/// A communicator may be freed, and so may types and operations, while collectives are in progress.
void free_what_is_in_use() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  constexpr int count = 9;
  Affine in[count], out[count];
  MPI_Request requests[count];
  for (int i = 0; i < count; i++) {
    in[i] = {1, static_cast<uint32_t>(me + i)};
    MPI_Iallreduce(&in[i], &out[i], 1, type, op, comm, &requests[i]);
  }
  MPI_Comm_free(&comm);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(out[i].b, ranks * (ranks - 1) / 2 + ranks * i);
}

/// Duplicates that are made while others are used.
void duplicate() {
  MPI_Comm copies[3];
  MPI_Request requests[3];
  for (int i = 0; i < 3; i++) {
    if (i == 1) {
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "key", "value");
      MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &copies[i], &requests[i]);
      MPI_Info_free(&info);
    } else {
      MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = 2; i >= 0; i--) {
    int result = 0, sum = 0, from = -1;
    MPI_Comm_compare(MPI_COMM_WORLD, copies[i], &result);
    CHECK_EQUAL(result, MPI_CONGRUENT);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, copies[i]);
    CHECK_EQUAL(sum, ranks * (ranks - 1) / 2);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, 0, &from, 1, MPI_INT, (me + ranks - 1) % ranks,
                 0, copies[i], MPI_STATUS_IGNORE);
    CHECK_EQUAL(from, (me + ranks - 1) % ranks);
    MPI_Comm_free(&copies[i]);
  }
}

/// Until its completion no call takes the handle but MPI_Comm_set_errhandler, on which mpi4py
/// counts.
void incomplete_duplicate() {
  if (ranks == 1) return;
  MPI_Comm copy;
  MPI_Request request;
  int size = -1, error_class = MPI_SUCCESS;
  if (me != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  CHECK_EQUAL(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), MPI_SUCCESS);
  if (me == 0) {
    // No other rank has begun; but the rank that chooses the context may need no other.
    int is_complete = 0;
    MPI_Request_get_status(request, &is_complete, MPI_STATUS_IGNORE);
    if (is_complete == 0) {
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
      MPI_Error_class(MPI_Comm_size(copy, &size), &error_class);
      CHECK_EQUAL(error_class, MPI_ERR_COMM);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    for (int i = 1; i < ranks; i++)
      MPI_Send(nullptr, 0, MPI_INT, i, 9, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQUAL(size_of(copy), ranks);
  MPI_Error_class(MPI_Send(nullptr, 0, MPI_INT, ranks, 0, copy), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_RANK);
  MPI_Comm_free(&copy);
}

/// Duplicates of an intercommunicator join the same groups; frees it while they are made.
void duplicate_intercomm(MPI_Comm inter) {
  MPI_Comm copies[3];
  MPI_Request requests[3];
  int remote_size = 0, sum = 0;
  const int one = 1;
  MPI_Comm_remote_size(inter, &remote_size);
  for (int i = 0; i < 3; i++)
    MPI_Comm_idup(inter, &copies[i], &requests[i]);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK_EQUAL(sum, remote_size);
  MPI_Comm_free(&inter);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = 2; i >= 0; i--) {
    int size = 0;
    MPI_Comm_remote_size(copies[i], &size);
    CHECK_EQUAL(size, remote_size);
    MPI_Request request;
    sum = 0;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copies[i], &request);
    MPI_Comm_free(&copies[i]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(sum, remote_size);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  uint64_t random = random_seed(1806);
  uint64_t own_random = random + 77 * static_cast<uint64_t>(me + 1);
  {
    const Objects objects;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, ranks - me, &half);
    uint64_t half_random = random + static_cast<uint64_t>(me % 2);
    const int rounds = ranks > 64 ? 3 : ranks > 16 ? 12 : 40;
    for (int i = 0; i < rounds; i++) {
      round(objects, &random, &own_random, MPI_COMM_WORLD);
      if (i % 4 == 0) round(objects, &half_random, &own_random, half);
    }
    MPI_Comm_free(&half);
    MPI_Comm inter = make_intercomm();
    for (int i = 0; inter != MPI_COMM_NULL && i < rounds; i++)
      round(objects, &random, &own_random, inter);
    if (inter != MPI_COMM_NULL) duplicate_intercomm(inter);
  }
  free_what_is_in_use();
  duplicate();
  incomplete_duplicate();
  MPI_Finalize();
  return 0;
}
