#include "mpi/base/integer_handles.hpp"

namespace sorrel::mpi {

int IntegerHandles::number_of(std::uintptr_t handle) {
  if (handle < first_dynamic_handle) return static_cast<int>(handle);
  const auto next = static_cast<int>(first_dynamic_handle + handles_.size());
  const auto [entry, is_new] = numbers_.try_emplace(handle, next);
  if (is_new) handles_.push_back(handle);
  return entry->second;
}

std::uintptr_t IntegerHandles::handle_of(int number) const {
  if (number < 0) return 0;
  const auto value = static_cast<std::uintptr_t>(number);
  if (value < first_dynamic_handle) return value;
  const std::size_t index = value - first_dynamic_handle;
  return index < handles_.size() ? handles_[index] : 0;
}

}  // namespace sorrel::mpi
