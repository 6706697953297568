// What a rank has of its thread and of signals goes with it: keys of thread-specific values, their
// values and destructors, thread_local objects, handlers, blocked and pending signals, an interval
// timer, the alternate stack. Prints a line for each step, the same whatever happens to the ranks.
//
// usage: keys STEPS EVERY [DIE [REFUSED [RANK]]], as steps.c. REFUSED: key, handler: of a library
// of
//   the process; inside: saves the job in a handler.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mpi.h>
#include <pthread.h>
#include <string>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <sorrel.h>

// Exported by the C library, and by no header: a key of the process.
extern "C" int __pthread_key_create(pthread_key_t* key, void (*destructor)(void*));

namespace {

int rank;
int size;
int failure_count;
int ended_count;
int saved_count;
bool is_restarted;
bool saves_inside;
bool saves_in_handler;
int outcome_in_handler;
volatile sig_atomic_t own_count;
volatile sig_atomic_t blocked_count;
volatile sig_atomic_t tick_count;
volatile sig_atomic_t foreign_count;

void check(bool is_right, const char* what) {
  if (is_right) return;
  ++failure_count;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
}

class Counted {
 public:
  Counted() { ++alive; }

  ~Counted() { --alive; }

  static thread_local int alive;
};

thread_local int Counted::alive = 0;
thread_local std::unique_ptr<Counted> kept;
thread_local std::map<int, std::string> texts;

void end_value(void* value) {
  delete static_cast<int*>(value);
  ++ended_count;
}

void say_end(void* /*value*/) {
  if (rank == 0) std::puts("the main thread has ended");
}

/// Keys that differ from rank to rank.
class Keys {
 public:
  void make() {
    for (int i = 0; i < 3 + rank % 3; ++i)
      add(i);
    // The number comes again, as another key.
    const pthread_key_t second = keys_[1];
    check(pthread_key_delete(second) == 0, "pthread_key_delete");
    check(pthread_key_create(&keys_[1], end_value) == 0 && keys_[1] == second, "a key again");
    check(pthread_getspecific(second) == nullptr, "the value of a new key");
    pthread_setspecific(second, new int(1));
    check(tss_create(&standard_, nullptr) == thrd_success, "tss_create");
    check(tss_set(standard_, &rank) == thrd_success, "tss_set");
    check(pthread_key_create(&last_, say_end) == 0 && pthread_setspecific(last_, &last_) == 0,
          "the last key");
  }

  void step(int step) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      auto* value = static_cast<int*>(pthread_getspecific(keys_[i]));
      const int expected = static_cast<int>(i) + (step - 1) * (rank + 1);
      check(value != nullptr && *value == expected, "a value");
      // In another block of memory from time to time.
      if (step % 7 == 0) {
        check(pthread_setspecific(keys_[i], new int(expected)) == 0, "pthread_setspecific");
        delete std::exchange(value, static_cast<int*>(pthread_getspecific(keys_[i])));
      }
      *value += rank + 1;
    }
    check(tss_get(standard_) == &rank, "tss_get");
    if (step == 20) add(static_cast<int>(keys_.size()) + step * (rank + 1));
  }

  /// A thread of the rank has values of its own.
  void use_thread() {
    const int ended_before = ended_count;
    pthread_t thread;
    check(pthread_create(&thread, nullptr, run_thread, this) == 0, "pthread_create");
    pthread_join(thread, nullptr);
    check(ended_count == ended_before + static_cast<int>(keys_.size()), "destructors of a thread");
  }

 private:
  void add(int value) {
    pthread_key_t key;
    check(pthread_key_create(&key, end_value) == 0, "pthread_key_create");
    check(pthread_setspecific(key, new int(value)) == 0, "pthread_setspecific");
    keys_.push_back(key);
  }

  static void* run_thread(void* argument) {
    const auto& keys = *static_cast<Keys*>(argument);
    for (const pthread_key_t key : keys.keys_) {
      check(pthread_getspecific(key) == nullptr, "a value in a new thread");
      check(pthread_setspecific(key, new int(5)) == 0, "pthread_setspecific in a thread");
      check(*static_cast<int*>(pthread_getspecific(key)) == 5, "a value in a thread");
    }
    return nullptr;
  }

  std::vector<pthread_key_t> keys_;
  tss_t standard_{};
  pthread_key_t last_{};
};

void on_own(int /*number*/) {
  own_count = own_count + 1;
  if (!saves_in_handler) return;
  saves_in_handler = false;
  outcome_in_handler = sorrel_checkpoint();
}

void on_blocked(int /*number*/) {
  blocked_count = blocked_count + 1;
}

void on_tick(int /*number*/) {
  tick_count = tick_count + 1;
}

void on_foreign(int number, siginfo_t* info, void* /*context*/) {
  if (number == SIGURG && info->si_signo == number) foreign_count = foreign_count + 1;
}

class Signals {
 public:
  void begin() {
    std::signal(SIGUSR1, on_own);
    std::signal(SIGUSR2, on_blocked);
    std::signal(SIGALRM, on_tick);
    struct sigaction foreign{};
    foreign.sa_sigaction = on_foreign;
    foreign.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaddset(&foreign.sa_mask, SIGUSR1);
    sigaction(SIGURG, &foreign, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
    const stack_t stack{.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
    sigaltstack(&stack, nullptr);
    constexpr timeval interval{.tv_sec = 0, .tv_usec = 3000};
    const itimerval timer{.it_interval = interval, .it_value = interval};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  /// Before ranks go.
  static void raise_blocked() { kill(getpid(), SIGUSR2); }

  void step(int step) {
    check(own_count == step - 1, "a handler has run too often");
    kill(getpid(), SIGUSR1);
    check(own_count == step, "a handler");
    check(blocked_count == step - 1, "a blocked signal has come");
    sigset_t set;
    sigpending(&set);
    check(sigismember(&set, SIGUSR2) == 1, "a pending signal");
    sigset_t before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_UNBLOCK, &set, &before);
    check(sigismember(&before, SIGUSR2) == 1, "a blocked signal");
    check(blocked_count == step, "a signal that was pending");
    sigprocmask(SIG_BLOCK, &set, nullptr);
    struct sigaction action{};
    sigaction(SIGURG, nullptr, &action);
    check(action.sa_sigaction == on_foreign && (action.sa_flags & SA_SIGINFO) != 0 &&
              sigismember(&action.sa_mask, SIGUSR1) == 1,
          "an action");
    sigaction(SIGPIPE, nullptr, &action);
    check(action.sa_handler == SIG_IGN, "an ignored signal");
    stack_t stack{};
    sigaltstack(nullptr, &stack);
    check(stack.ss_sp == stack_.data() && stack.ss_size == stack_.size(), "the alternate stack");
  }

  /// Sends one to the next rank's process, if that is another one: to all ranks there.
  static bool send() {
    std::vector<int> processes(static_cast<std::size_t>(size));
    const int own = getpid();
    MPI_Allgather(&own, 1, MPI_INT, processes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const int next = processes[static_cast<std::size_t>((rank + 1) % size)];
    if (next != own) kill(next, SIGURG);
    bool are_several = false;
    for (const int process : processes)
      are_several |= process != own;
    return are_several;
  }

  /// The timer still runs, and signals to the process still arrive.
  static void end() {
    const sig_atomic_t ticks = tick_count;
    while (tick_count == ticks)
      usleep(1000);
    constexpr itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    for (int least = 0; least == 0;) {
      const bool are_several = send();
      usleep(1000);
      const int own = are_several ? foreign_count : 1;
      MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
  }

 private:
  std::vector<std::byte> stack_ = std::vector<std::byte>(65536);
};

void hold(const std::string& what) {
  if (what == "handler")
    std::signal(SIGWINCH, reinterpret_cast<sighandler_t>(reinterpret_cast<void*>(&labs)));
  saves_inside = what == "inside";
  if (what != "key") return;
  pthread_key_t key;
  static int value;
  check(__pthread_key_create(&key, nullptr) == 0 && pthread_setspecific(key, &value) == 0,
        "a key of the process");
}

void save(int die) {
  int outcome = 0;
  if (saves_inside) {
    saves_in_handler = true;
    kill(getpid(), SIGUSR1);
    own_count = own_count - 1;
    outcome = outcome_in_handler;
  } else {
    outcome = sorrel_checkpoint();
  }
  is_restarted |= outcome == 1;
  if (outcome == 0) ++saved_count;
  if (outcome == 1 && rank == 0) std::puts("restarted");
  if (outcome < 0 && rank == 0) std::puts("refused");
  if (!is_restarted && die != 0 && saved_count == die && rank == 1) kill(getpid(), SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = std::atoi(argv[1]);
  const int every = std::atoi(argv[2]);
  const int die = argc > 3 ? std::atoi(argv[3]) : 0;
  if (argc > 4 && rank == (argc > 5 ? std::atoi(argv[5]) : size - 1)) hold(argv[4]);
  auto keys = std::make_unique<Keys>();
  auto signals = std::make_unique<Signals>();
  keys->make();
  signals->begin();
  kept = std::make_unique<Counted>();
  for (int step = 1; step <= steps; ++step) {
    texts[step % 10] = std::to_string(step);
    Signals::raise_blocked();
    Signals::send();
    if (step % every == 0) save(die);
    keys->step(step);
    signals->step(step);
    check(Counted::alive == 1 && texts[step % 10] == std::to_string(step), "thread_local objects");
    if (step % 25 == 0) keys->use_thread();
    int all = 0;
    MPI_Allreduce(&failure_count, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%d steps, %d failures\n", step, all);
    std::fflush(stdout);
  }
  Signals::end();
  MPI_Finalize();
  if (failure_count != 0) return 1;
  pthread_exit(nullptr);
}
