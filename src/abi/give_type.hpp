//! The end of every constructor of a datatype: the new type goes to the user, with its recipe.
#pragma once

#include <memory>

#include "abi/call.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/recipe.hpp"

namespace sorrel::abi {

/// Explains a constructor's error class in terms of the user's arguments, unless the constructor
/// has done so.
[[nodiscard, gnu::cold]] int fail_construction(RankState& self, int error);

/// Calls make(new_type), returns the new datatype to the user, and stores the recipe in it.
template <class Make>
int give_type(RankState& self,
              MPI_Datatype* handle,
              std::unique_ptr<mpi::Recipe>& recipe,
              Make&& make) {
  mpi::Datatype* made = nullptr;
  const int error = make(made);
  if (error != MPI_SUCCESS) return fail_construction(self, error);
  made->set_recipe(std::move(recipe));
  *handle = handle_of(*made);
  return MPI_SUCCESS;
}

}  // namespace sorrel::abi
