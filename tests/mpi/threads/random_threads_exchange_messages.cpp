// A stress test: threads of a rank that start and end at random times send messages of random
// lengths to random threads of random ranks; each thread receives what is meant for it, in order
// for each pair of threads, and every byte is checked.
#include <cstring>
#include <thread>
#include <vector>

#include "../check.h"

namespace {

constexpr int thread_count = 3;
constexpr int messages_per_thread = 60;
constexpr int wave_count = 3;

struct Head {
  int from_rank;
  int from_thread;
  int number;
  int bytes;
};

/// The messages that a thread sends in a wave: a function of the sender alone, so that each
/// receiver knows what comes.
struct Plan {
  int to_rank;
  int to_thread;
  int bytes;
};

std::vector<Plan> plan_of(int rank, int thread, int wave, int size) {
  std::uint64_t state = 1000003u * static_cast<unsigned>(rank) +
                        1009u * static_cast<unsigned>(thread) + static_cast<unsigned>(wave);
  std::vector<Plan> plans;
  for (int i = 0; i < messages_per_thread; ++i) {
    Plan plan{random_below(&state, size), random_below(&state, thread_count), 0};
    constexpr int longest[] = {64, 400, 3000, 20000, 70000};
    plan.bytes = static_cast<int>(sizeof(Head)) + random_below(&state, longest[i % 5]);
    plans.push_back(plan);
  }
  return plans;
}

char byte_at(const Head& head, int i) {
  return static_cast<char>(head.from_rank * 31 + head.from_thread * 7 + head.number * 3 + i);
}

void run_thread(int rank, int size, int thread, int wave) {
  const std::vector<Plan> sends = plan_of(rank, thread, wave, size);
  int expected_count = 0;
  for (int r = 0; r < size; ++r) {
    for (int t = 0; t < thread_count; ++t) {
      for (const Plan& plan : plan_of(r, t, wave, size))
        expected_count += plan.to_rank == rank && plan.to_thread == thread ? 1 : 0;
    }
  }
  std::vector<std::vector<char>> buffers;
  std::vector<MPI_Request> requests;
  std::vector<int> last(static_cast<std::size_t>(size * thread_count), -1);
  const auto take = [&](MPI_Message& message, const MPI_Status& status) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::vector<char> buffer(static_cast<std::size_t>(bytes));
    MPI_Mrecv(buffer.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    Head head{};
    std::memcpy(&head, buffer.data(), sizeof head);
    CHECK_EQUAL(head.bytes, bytes);
    CHECK_EQUAL(head.from_rank, status.MPI_SOURCE);
    int& before = last[static_cast<std::size_t>(head.from_rank * thread_count + head.from_thread)];
    CHECK(head.number > before);
    before = head.number;
    for (int i = static_cast<int>(sizeof head); i < bytes; ++i)
      CHECK(buffer[static_cast<std::size_t>(i)] == byte_at(head, i));
  };
  int received = 0;
  for (int i = 0; i < messages_per_thread; ++i) {
    const Plan& plan = sends[static_cast<std::size_t>(i)];
    const Head head{rank, thread, i, plan.bytes};
    std::vector<char> buffer(static_cast<std::size_t>(plan.bytes));
    std::memcpy(buffer.data(), &head, sizeof head);
    for (int k = static_cast<int>(sizeof head); k < plan.bytes; ++k)
      buffer[static_cast<std::size_t>(k)] = byte_at(head, k);
    buffers.push_back(std::move(buffer));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(buffers.back().data(), plan.bytes, MPI_BYTE, plan.to_rank, plan.to_thread,
              MPI_COMM_WORLD, &request);
    requests.push_back(request);
    int is_there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, thread, MPI_COMM_WORLD, &is_there, &message, &status);
    if (is_there == 0) continue;
    take(message, status);
    ++received;
  }
  for (; received < expected_count; ++received) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Mprobe(MPI_ANY_SOURCE, thread, MPI_COMM_WORLD, &message, &status);
    take(message, status);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  for (int wave = 0; wave < wave_count; ++wave) {
    std::vector<std::thread> threads;
    for (int thread = 1; thread < thread_count; ++thread)
      threads.emplace_back(run_thread, rank, size, thread, wave);
    run_thread(rank, size, 0, wave);
    for (std::thread& thread : threads)
      thread.join();
    // Messages of the next wave have the same tags.
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
