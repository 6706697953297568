#include "abi/known_hints.hpp"

#include <string>

#include "abi/check.hpp"

namespace sorrel::abi {

int take_known_hints(mpi::RankState& self,
                     MPI_Info info,
                     std::span<const std::string_view> known,
                     mpi::Info* hints) {
  mpi::Info given;
  int error = take_hints(self, info, &given);
  for (std::size_t i = 0; error == MPI_SUCCESS && i < known.size(); ++i) {
    const std::string key(known[i]);
    const std::string* value = given.find(key);
    if (value != nullptr) error = hints->set(key.c_str(), value->c_str(), self.detail());
  }
  return error;
}

}  // namespace sorrel::abi
