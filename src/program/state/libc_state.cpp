#include "program/state/libc_state.hpp"

#include <cstdint>
#include <cstring>

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

RandomState::RandomState(const RandomState& other, std::uintptr_t address_of_other)
    : generator(other.generator) {
  std::memcpy(initial, other.initial, sizeof initial);
  const std::uintptr_t own = reinterpret_cast<std::uintptr_t>(this);
  for (std::int32_t** pointer :
       {&generator.fptr, &generator.rptr, &generator.state, &generator.end_ptr}) {
    const auto distance = reinterpret_cast<std::uintptr_t>(*pointer) - address_of_other;
    if (distance <= sizeof *this) *pointer = reinterpret_cast<std::int32_t*>(own + distance);
  }
}

const char* LibcState::reason_not_saved() const {
  const bool has_error_text = loader_error_ != nullptr && !loader_error_->text.empty();
  if (time_results_ != nullptr || text_results_ != nullptr ||
      number_format_.decimal_point != nullptr || has_error_text)
    return "it has called localtime, asctime or a similar function with a static result";
  if (account_results_ != nullptr || account_lists_ != nullptr || mount_result_ != nullptr ||
      network_results_ != nullptr)
    return "it has read a data base of the system (getpwnam, gethostbyname, getmntent, ...)";
  if (search_table_ != nullptr) return "it has a table of hcreate";
  if (innermost_walk_ != nullptr) return "it is in nftw";
  return nullptr;
}

void LibcState::save(ByteWriter& to) const {
  to.add(reinterpret_cast<std::uintptr_t>(random_.get()));
  if (random_ != nullptr) to.add(*random_);
  to.add(drand48_ != nullptr);
  if (drand48_ != nullptr) to.add(*drand48_);
  to.add(last_error_line_);
  to.add(character_state_);
  to.add(strtok_position_);
}

void LibcState::restore(ByteCursor& from) {
  if (const auto address = from.take<std::uintptr_t>(); address != 0)
    random_ = std::make_unique<RandomState>(from.take<RandomState>(), address);
  if (from.take<bool>()) drand48_ = std::make_unique<drand48_data>(from.take<drand48_data>());
  last_error_line_ = from.take<LastErrorLine>();
  character_state_ = from.take<std::mbstate_t>();
  strtok_position_ = from.take<char*>();
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
