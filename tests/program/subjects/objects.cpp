// What C++ adds to globals: constructors and destructors, virtual functions, exceptions, streams,
// statics of templates and of inline functions, typeinfo.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mpi.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

int rank = -1;

void require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "rank " << rank << ": " << what << std::endl;
  std::exit(1);
}

struct Counter {
  Counter() { ++alive; }

  ~Counter() { --alive; }

  static inline int alive = 0;
};

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};

struct Square final : Shape {
  explicit Square(double s) : side(s) {}

  double area() const override { return side * side; }

  double side;
};

struct Trouble : std::runtime_error {
  Trouble(int c, const std::string& text) : std::runtime_error(text), code(c) {}

  int code;
};

template <class T>
struct Tally {
  static int count;
};
template <class T>
int Tally<T>::count = 0;

inline std::vector<int>& notes() {
  static std::vector<int> list{1, 2, 3};
  return list;
}

struct Farewell {
  ~Farewell() { std::cout << "destructor of rank " << rank << std::endl; }
};

Counter counter;
Farewell farewell;
std::map<std::string, std::unique_ptr<Shape>> shapes;
std::string text = "a string longer than its own small buffer";
std::function<int(int)> closure = [](int x) { return x + static_cast<int>(text.size()); };

int depth_of_throw(int depth) {
  Counter on_stack;
  if (depth == 0) throw Trouble(rank, "thrown by rank " + std::to_string(rank));
  return depth_of_throw(depth - 1) + 1;
}

// Through frames of the C++ library.
void throw_from_sort() {
  std::vector<int> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>((i * 7919) % 1000);
  int comparisons = 0;
  try {
    std::sort(values.begin(), values.end(), [&](int a, int b) {
      if (++comparisons == 500) throw Trouble(comparisons, "enough");
      return a < b;
    });
    require(false, "sort went on");
  } catch (const std::exception& e) {
    require(dynamic_cast<const Trouble*>(&e) != nullptr, "the exception lost its type");
    require(comparisons == 500, "sort stopped elsewhere");
  }
}

void throw_from_library() {
  try {
    (void)std::string("x").at(5);
    require(false, "at() did not throw");
  } catch (const std::out_of_range& e) {
    require(typeid(e) == typeid(std::out_of_range), "typeinfo is not unique");
  }
  try {
    (void)std::stoi("no number");
    require(false, "stoi did not throw");
  } catch (const std::invalid_argument&) {
  }
  std::stringstream stream("word");
  stream.exceptions(std::ios::failbit);
  try {
    int number = 0;
    stream >> number;
    require(false, "a stream did not throw");
  } catch (const std::ios_base::failure&) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(Counter::alive == 1, "a constructor did not run exactly once");
  require(text.size() == 41 && closure(1) == 42, "a string was not constructed");
  std::cout << std::setprecision(3 + rank % 10);
  std::ios_base::sync_with_stdio(false);
  for (int i = 0; i < 20; ++i) {
    shapes["square" + std::to_string(i)] = std::make_unique<Square>(rank + i);
    Tally<int>::count += rank;
    Tally<double>::count += 1;
    notes().push_back(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    try {
      depth_of_throw(30);
      require(false, "nothing was thrown");
    } catch (const Trouble& trouble) {
      require(trouble.code == rank, "another rank's exception was caught");
      require(trouble.what() == "thrown by rank " + std::to_string(rank), "what() is wrong");
    }
    require(Counter::alive == 1, "unwinding left objects behind");
    throw_from_sort();
    throw_from_library();
  }
  double sum = 0;
  for (const auto& [name, shape] : shapes)
    sum += shape->area();
  double expected = 0;
  for (int i = 0; i < 20; ++i)
    expected += static_cast<double>(rank + i) * (rank + i);
  require(sum == expected, "virtual functions worked on shared data");
  require(Tally<int>::count == 20 * rank && Tally<double>::count == 20,
          "template statics were shared");
  require(notes().size() == 23 && notes().back() == rank, "a static local was shared");
  require(std::cout.precision() == 3 + rank % 10, "the stream's precision was shared");
  std::cout << "objects of rank " << rank << " are its own" << std::endl;
  MPI_Finalize();
  return 0;
}
