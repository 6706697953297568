#include "program/state/libc_state.hpp"

#include <cstring>

#include "base/check.hpp"

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

char* LibcState::kept_zone_name(const char* name) {
  for (char* kept : zone_names_) {
    if (std::strcmp(kept, name) == 0) return kept;
  }
  // What this function of the C library returns goes along with the rank.
  char* kept = ::strdup(name);
  if (kept != nullptr) zone_names_.push_back(kept);
  return kept;
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
  SORREL_ASSERT(own_generators_ == nullptr, "the generators do not go along with the rank");
  to.add(generators_);
  to.add(zone_names_.size());
  for (char* name : zone_names_)
    to.add(name);
  to.add(last_error_line_);
  to.add(character_states_);
  to.add(strtok_position_);
}

void LibcState::restore(ByteCursor& from) {
  generators_ = from.take<Generators*>();
  zone_names_.clear();
  for (auto left = from.take<std::size_t>(); left > 0 && from.is_good(); --left)
    zone_names_.push_back(from.take<char*>());
  last_error_line_ = from.take<LastErrorLine>();
  character_states_ = from.take<decltype(character_states_)>();
  strtok_position_ = from.take<char*>();
}

Generators& LibcState::generators() {
  if (generators_ == nullptr) generators_ = &made(own_generators_);
  return *generators_;
}

random_data& LibcState::random() {
  std::optional<RandomState>& random = generators().random;
  return (random ? *random : random.emplace()).generator;
}

drand48_data& LibcState::drand48() {
  std::optional<drand48_data>& drand48 = generators().drand48;
  return drand48 ? *drand48 : drand48.emplace();
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
