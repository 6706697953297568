#include "abi/known_hints.hpp"

#include <string>

#include "abi/check.hpp"
#include "device/buffers.hpp"
#include "mpi/comm/memory_kinds.hpp"

namespace sorrel::abi {

namespace {

bool is_ignored(const std::string& key, const std::string& value) {
  return key == mpi::asserted_memory_kinds_key &&
         !mpi::are_memory_kinds_supported(value, device::are_buffers_supported());
}

}  // namespace

int copy_known_hints(mpi::RankState& self,
                     const mpi::Info& given,
                     std::span<const std::string_view> known,
                     mpi::Info* hints) {
  int error = MPI_SUCCESS;
  for (std::size_t i = 0; error == MPI_SUCCESS && i < known.size(); ++i) {
    const std::string key(known[i]);
    const std::string* value = given.find(key);
    if (value != nullptr && !is_ignored(key, *value))
      error = hints->set(key.c_str(), value->c_str(), self.detail());
  }
  return error;
}

int take_known_hints(mpi::RankState& self,
                     MPI_Info info,
                     std::span<const std::string_view> known,
                     mpi::Info* hints) {
  mpi::Info given;
  const int error = take_hints(self, info, &given);
  return error != MPI_SUCCESS ? error : copy_known_hints(self, given, known, hints);
}

int describe_memory_kinds(mpi::RankState& self, mpi::Info& info) {
  const char* kinds = mpi::supported_memory_kinds(device::are_buffers_supported());
  return info.set(mpi::memory_kinds_key, kinds, self.detail());
}

}  // namespace sorrel::abi
