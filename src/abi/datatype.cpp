// Construction of derived datatypes. MPI 5.0, 5.1.
#include <memory>

#include "abi/call.hpp"
#include "abi/check.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/recipe.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;
using mpi::Recipe;

/// Explains a constructor's error class in terms of the user's arguments.
int fail_construction(RankState& self, int error) {
  switch (error) {
    case MPI_ERR_COUNT:
      return self.fail(error,
                       "count is too large: the size of the datatype must fit into an MPI_Count");
    case MPI_ERR_TYPE:
      return self.fail(
          error, "oldtype is nested too deeply: irregular datatypes may have at most %u levels",
          mpi::layout_depth_max);
    case MPI_ERR_NO_MEM:
      return self.fail(error, "not enough memory for the datatype");
    default:
      return self.fail(error, "a block length, size, start or displacement is out of range");
  }
}

/// Calls make(new_type), returns the new datatype to the user, and stores the recipe in it.
template <class Make>
int give_type(RankState& self, MPI_Datatype* handle, std::unique_ptr<Recipe>& recipe, Make&& make) {
  Datatype* made = nullptr;
  const int error = make(made);
  if (error != MPI_SUCCESS) return fail_construction(self, error);
  made->set_recipe(std::move(recipe));
  *handle = handle_of(*made);
  return MPI_SUCCESS;
}

/// Calls make(old_type, new_type), for a constructor with a count and an old type.
template <class Make>
int derive(RankState& self,
           MPI_Count count,
           MPI_Datatype old_handle,
           MPI_Datatype* handle,
           std::unique_ptr<Recipe>& recipe,
           Make&& make) {
  if (count < 0) return fail_count(self, count);
  Datatype* old_type = mpi::datatype_from_handle(old_handle);
  if (old_type == nullptr) return fail_datatype(self, old_handle);
  return give_type(self, handle, recipe, [&](Datatype*& made) { return make(*old_type, made); });
}

int check_subarray(RankState& self, int dimensions, int order) {
  if (dimensions < 1)
    return self.fail(MPI_ERR_ARG, "ndims is %d; it must be at least 1", dimensions);
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return self.fail(MPI_ERR_ARG, "order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN",
                     order);
  return MPI_SUCCESS;
}

int check_members(RankState& self, MPI_Count count, const MPI_Datatype* types) {
  for (MPI_Count i = 0; i < count; ++i)
    if (mpi::datatype_from_handle(types[i]) == nullptr)
      return self.fail(
          MPI_ERR_TYPE, "array_of_types[%lld] is %s", static_cast<long long>(i),
          types[i] == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "not a valid datatype");
  return MPI_SUCCESS;
}

}  // namespace

#define SORREL_BINDINGS "abi/datatype_bindings.inc"
#include "abi/both_counts.hpp"

extern "C" {

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return call("MPI_Type_dup", [&](RankState& self) {
    SORREL_NOT_NULL(newtype);
    auto recipe = std::make_unique<Recipe>(MPI_COMBINER_DUP, false);
    return derive(self, 1, oldtype, newtype, recipe, [&](Datatype& old_type, Datatype*& made) {
      recipe->type(old_type);
      return make_dup(old_type, made);
    });
  });
}

int PMPI_Type_commit(MPI_Datatype* datatype) {
  return call("MPI_Type_commit", [&](RankState& self) {
    SORREL_NOT_NULL(datatype);
    Datatype* type = mpi::datatype_from_handle(*datatype);
    if (type == nullptr) return fail_datatype(self, *datatype);
    type->commit();
    return MPI_SUCCESS;
  });
}

int PMPI_Type_free(MPI_Datatype* datatype) {
  return call("MPI_Type_free", [&](RankState& self) {
    SORREL_NOT_NULL(datatype);
    Datatype* type = mpi::datatype_from_handle(*datatype);
    if (type == nullptr) return fail_datatype(self, *datatype);
    if (type->is_predefined())
      return self.fail(MPI_ERR_TYPE, "%s is predefined and cannot be freed", type->name());
    type->release();
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
  });
}

SORREL_WEAK(int, MPI_Type_dup, (MPI_Datatype oldtype, MPI_Datatype* newtype))
SORREL_WEAK(int, MPI_Type_commit, (MPI_Datatype * datatype))
SORREL_WEAK(int, MPI_Type_free, (MPI_Datatype * datatype))

}  // extern "C"

}  // namespace sorrel::abi
