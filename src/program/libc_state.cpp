#include "program/libc_state.hpp"

namespace sorrel::program {

namespace {

template <class T>
T& made(std::unique_ptr<T>& pointer) {
  if (pointer == nullptr) pointer = std::make_unique<T>();
  return *pointer;
}

}  // namespace

RandomState::RandomState() {
  ::initstate_r(1, initial, sizeof initial, &generator);
}

random_data& LibcState::random() {
  return made(random_).generator;
}

drand48_data& LibcState::drand48() {
  return made(drand48_);
}

TimeResults& LibcState::time_results() {
  return made(time_results_);
}

}  // namespace sorrel::program
