// Persistent collectives of every kind, started several times with new data, in another order on
// each rank, give the same bits as the blocking ones.
#include <algorithm>
#include <memory>
#include <numeric>

#include "../collective_cases.hpp"

namespace {

std::vector<size_t> shuffled(size_t count, uint64_t* random) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; i--)
    std::swap(order[i - 1], order[static_cast<size_t>(random_below(random, static_cast<int>(i)))]);
  return order;
}

void start_all(std::vector<MPI_Request>& requests, uint64_t* own_random) {
  std::vector<MPI_Request> batch;
  for (const size_t i : shuffled(requests.size(), own_random)) {
    if (random_below(own_random, 2) == 0) {
      MPI_Start(&requests[i]);
    } else {
      batch.push_back(requests[i]);
    }
  }
  MPI_Startall(static_cast<int>(batch.size()), batch.data());
}

void round(
    const Objects& objects, uint64_t* random, uint64_t* own_random, MPI_Comm comm, int count_max) {
  const size_t count = 1 + static_cast<size_t>(random_below(random, 8));
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  for (size_t i = 0; i < count; i++) {
    cases.push_back(std::make_unique<Case>(objects, random, comm, count_max));
    cases.back()->init(&requests[i]);
  }
  // An inactive request is complete.
  int flag = 0;
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  CHECK(flag && requests[0] != MPI_REQUEST_NULL);
  for (int repetition = 0; repetition < 3; repetition++) {
    for (const auto& one : cases) {
      one->refill();
      one->run_blocking();
    }
    start_all(requests, own_random);
    if (random_below(random, 2) == 0) MPI_Barrier(comm);
    for (const size_t i : shuffled(count, own_random))
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (const auto& one : cases)
      one->check();
  }
  for (MPI_Request& request : requests) {
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  }
}

// Some programs free the arrays of counts and displacements as soon as the call returns.
void arrays_are_not_used_after_the_call() {
  const int ranks = size_of(MPI_COMM_WORLD);
  int me = rank_in(MPI_COMM_WORLD);
  const auto size = static_cast<size_t>(ranks);
  std::vector<int> counts(size, 1), places(size), out(size), in(size), gathered(size);
  std::iota(places.begin(), places.end(), 0);
  for (int i = 0; i < ranks; i++)
    out[static_cast<size_t>(i)] = 1000 * me + i;
  int sum = 0;
  MPI_Request requests[3];
  MPI_Allgatherv_init(&me, 1, MPI_INT, gathered.data(), counts.data(), places.data(), MPI_INT,
                      MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Alltoallv_init(out.data(), counts.data(), places.data(), MPI_INT, in.data(), counts.data(),
                     places.data(), MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Reduce_scatter_init(out.data(), &sum, counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &requests[2]);
  std::ranges::fill(counts, 1 << 28);
  std::ranges::fill(places, 1 << 28);
  for (int repetition = 0; repetition < 2; repetition++) {
    MPI_Startall(3, requests);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ranks; i++) {
      CHECK_EQUAL(gathered[static_cast<size_t>(i)], i);
      CHECK_EQUAL(in[static_cast<size_t>(i)], 1000 * i + me);
    }
    CHECK_EQUAL(sum, 1000 * (ranks * (ranks - 1) / 2) + ranks * me);
  }
  for (MPI_Request& request : requests)
    MPI_Request_free(&request);

  // Nonblocking: no rank can have finished before the barrier.
  std::ranges::fill(counts, 1);
  std::iota(places.begin(), places.end(), 0);
  std::ranges::fill(gathered, -1);
  MPI_Request request;
  if (me == ranks - 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iallgatherv(&me, 1, MPI_INT, gathered.data(), counts.data(), places.data(), MPI_INT,
                  MPI_COMM_WORLD, &request);
  std::ranges::fill(counts, 1 << 28);
  std::ranges::fill(places, 1 << 28);
  if (me != ranks - 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks; i++)
    CHECK_EQUAL(gathered[static_cast<size_t>(i)], i);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int ranks = size_of(MPI_COMM_WORLD);
  uint64_t random = random_seed(613);
  uint64_t own_random = random + 77 * static_cast<uint64_t>(rank_in(MPI_COMM_WORLD) + 1);
  MPI_Request left;
  {
    const Objects objects;
    const int rounds = ranks > 64 ? 2 : ranks > 16 ? 5 : 15;
    const int count_max = ranks > 16 ? 300 : 6000;
    for (int i = 0; i < rounds; i++)
      round(objects, &random, &own_random, MPI_COMM_WORLD, count_max);
    MPI_Comm inter = make_intercomm();
    for (int i = 0; inter != MPI_COMM_NULL && i < rounds; i++)
      round(objects, &random, &own_random, inter, count_max);
    if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
  }
  arrays_are_not_used_after_the_call();
  // A program may end with inactive requests.
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &left);
  MPI_Start(&left);
  MPI_Wait(&left, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
