// What a C++ program keeps goes with a rank that changes its process, to and fro: objects with
// virtual functions, containers, thread_local objects with destructors, streams; exceptions are
// thrown and caught in the process where the rank is, and in its threads.
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mpi.h>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int step_count = 120;

class Counted {
 public:
  Counted() { ++alive; }

  ~Counted() { --alive; }

  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  static thread_local int alive;
};

thread_local int Counted::alive = 0;
thread_local std::unique_ptr<Counted> kept;
thread_local std::map<std::string, std::vector<int>> lists;

class Work {
 public:
  virtual ~Work() = default;
  [[nodiscard]] virtual int run(int step) const = 0;
};

class Product final : public Work {
 public:
  explicit Product(int factor) : factor_(factor) {}

  [[nodiscard]] int run(int step) const override {
    if (step % 3 == 0) throw std::runtime_error("step " + std::to_string(step));
    return step * factor_;
  }

 private:
  int factor_;
};

class Rank {
 public:
  explicit Rank(int number)
      : number_(number),
        work_(std::make_unique<Product>(number + 1)),
        call_([this](int step) { return work_->run(step); }),
        random_(static_cast<unsigned>(number)),
        same_random_(random_) {
    kept = std::make_unique<Counted>();
    text_ << std::hex << std::setfill('.');
  }

  void step(int step) {
    lists[std::to_string(step % 10)].push_back(step);
    text_ << std::setw(4) << step;
    MPI_Barrier(MPI_COMM_WORLD);
    move_count_ += getpid() != process_ ? 1 : 0;
    process_ = getpid();
    call(step);
    check(random_() == same_random_(), "a generator");
    check(Counted::alive == 1, "a thread_local object");
    if (step % 20 == 0) use_thread();
    if (step % 30 == 0) check(std::regex_match("rank 12", std::regex("rank ([0-9]+)")), "a regex");
  }

  void end() {
    std::size_t count = 0;
    for (const auto& [name, list] : lists)
      count += list.size();
    check(count == step_count, "a map");
    check(text_.str().substr(0, 12) == "...1...2...3" && text_.str().ends_with("..78"), "a stream");
    check(caught_count_ == step_count / 3, "exceptions");
  }

  [[nodiscard]] int failure_count() const { return failure_count_; }

  [[nodiscard]] int move_count() const { return move_count_; }

 private:
  void check(bool is_right, const char* what) {
    if (is_right) return;
    ++failure_count_;
    std::cerr << "rank " << number_ << ": wrong: " << what << std::endl;
  }

  void call(int step) {
    try {
      check(call_(step) == step * (number_ + 1), "a virtual function");
    } catch (const std::runtime_error& error) {
      ++caught_count_;
      check(error.what() == "step " + std::to_string(step), "an exception");
    }
  }

  void use_thread() {
    int caught = 0;
    std::thread thread([&caught] {
      try {
        throw 5;
      } catch (int number) {
        caught = number;
      }
    });
    thread.join();
    check(caught == 5, "an exception in a thread");
  }

  const int number_;
  const std::unique_ptr<Work> work_;
  const std::function<int(int)> call_;
  std::mt19937 random_;
  std::mt19937 same_random_;
  std::ostringstream text_;
  pid_t process_ = getpid();
  int caught_count_ = 0;
  int move_count_ = 0;
  int failure_count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  Rank rank(number);
  for (int step = 1; step <= step_count; ++step)
    rank.step(step);
  rank.end();
  const int own[2] = {rank.move_count(), rank.failure_count()};
  int all[2] = {};
  MPI_Allreduce(own, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (number == 0) std::cout << all[0] << " moves, " << all[1] << " failures\n";
  MPI_Finalize();
  return all[1] != 0 ? 1 : 0;
}
