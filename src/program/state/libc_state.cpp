#include "program/state/libc_state.hpp"

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

AccountResults& LibcState::account_results() {
  return made(account_results_);
}

SearchTable& LibcState::search_table() {
  return made(search_table_);
}

TextResults& LibcState::text_results() {
  return made(text_results_);
}

NetworkResults& LibcState::network_results() {
  return made(network_results_);
}

AccountLists& LibcState::account_lists() {
  return made(account_lists_);
}

MountResult& LibcState::mount_result() {
  return made(mount_result_);
}

LoaderError& LibcState::loader_error() {
  return made(loader_error_);
}

}  // namespace sorrel::program
