#include "mpi/comm/info.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sorrel::mpi {

int check_info_key(const char* key, ErrorDetail& detail) {
  if (key == nullptr)
    return detail.fail(MPI_ERR_INFO_KEY, "key is a null pointer; it must be a string");
  if (*key == '\0')
    return detail.fail(MPI_ERR_INFO_KEY,
                       "key is an empty string; it must have at least one character");
  const std::size_t length = ::strnlen(key, MPI_MAX_INFO_KEY);
  if (length >= MPI_MAX_INFO_KEY)
    return detail.fail(MPI_ERR_INFO_KEY,
                       "key \"%.32s...\" is too long; at most %d bytes are allowed", key,
                       MPI_MAX_INFO_KEY - 1);
  return MPI_SUCCESS;
}

const std::string* Info::find(std::string_view key) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [key](const Entry& entry) { return entry.key == key; });
  return found == entries_.end() ? nullptr : &found->value;
}

int Info::set(const char* key, const char* value, ErrorDetail& detail) {
  if (const int error = check_info_key(key, detail); error != MPI_SUCCESS) return error;
  if (value == nullptr)
    return detail.fail(MPI_ERR_INFO_VALUE,
                       "value of key \"%s\" is a null pointer; it must be a string", key);
  if (::strnlen(value, MPI_MAX_INFO_VAL) >= MPI_MAX_INFO_VAL)
    return detail.fail(MPI_ERR_INFO_VALUE,
                       "value of key \"%.64s\" is too long; at most %d bytes are allowed", key,
                       MPI_MAX_INFO_VAL - 1);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [key](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    found->value = value;
  } else {
    entries_.push_back({.key = key, .value = value});
  }
  return MPI_SUCCESS;
}

int Info::erase(const char* key, ErrorDetail& detail) {
  if (const int error = check_info_key(key, detail); error != MPI_SUCCESS) return error;
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [key](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end())
    return detail.fail(MPI_ERR_INFO_NOKEY, "key \"%.64s\" is not in info", key);
  entries_.erase(found);
  return MPI_SUCCESS;
}

Info* changeable_info_of(MPI_Info handle) {
  return object_of<Info>(handle);
}

MPI_Info make_info_handle(std::unique_ptr<Info> info) {
  return reinterpret_cast<MPI_Info>(info.release());
}

void free_info(Info* info) {
  info->header.kind = ObjectKind::freed;
  delete info;
}

}  // namespace sorrel::mpi
