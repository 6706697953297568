// Construction of derived datatypes. MPI 5.0, 5.1.
#include <memory>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "abi/give_type.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/recipe.hpp"

namespace sorrel::abi {

int fail_construction(RankState& self, int error) {
  if (self.detail().text()[0] != '\0') return error;
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

namespace {

using mpi::Datatype;
using mpi::Recipe;

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

namespace body {

int Type_contiguous(
    RankState& self, MPI_Count count, Datatype& oldtype, MPI_Datatype* newtype, bool is_large) {
  if (count < 0) return fail_count(self, count);
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_CONTIGUOUS, is_large);
  recipe->count(count).type(oldtype);
  return give_type(self, newtype, recipe,
                   [&](Datatype*& made) { return make_contiguous(count, oldtype, made); });
}

int Type_vector(RankState& self,
                MPI_Count count,
                MPI_Count blocklength,
                MPI_Count stride,
                Datatype& oldtype,
                MPI_Datatype* newtype,
                bool is_large) {
  if (count < 0) return fail_count(self, count);
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_VECTOR, is_large);
  recipe->count(count).count(blocklength).count(stride).type(oldtype);
  return give_type(self, newtype, recipe, [&](Datatype*& made) {
    return make_vector({count, blocklength, stride}, oldtype, made);
  });
}

int Type_create_hvector(RankState& self,
                        MPI_Count count,
                        MPI_Count blocklength,
                        MPI_Count stride,
                        Datatype& oldtype,
                        MPI_Datatype* newtype,
                        bool is_large) {
  if (count < 0) return fail_count(self, count);
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_HVECTOR, is_large);
  recipe->count(count).count(blocklength).address(stride).type(oldtype);
  return give_type(self, newtype, recipe, [&](Datatype*& made) {
    return make_hvector({count, blocklength, stride}, oldtype, made);
  });
}

int Type_indexed(RankState& self,
                 MPI_Count count,
                 mpi::Integers array_of_blocklengths,
                 mpi::Integers array_of_displacements,
                 Datatype& oldtype,
                 MPI_Datatype* newtype,
                 bool is_large) {
  if (count < 0) return fail_count(self, count);
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_INDEXED, is_large);
  recipe->count(count)
      .counts(array_of_blocklengths, count)
      .counts(array_of_displacements, count)
      .type(oldtype);
  return give_type(self, newtype, recipe, [&](Datatype*& made) {
    return make_indexed(count, array_of_blocklengths, array_of_displacements, oldtype, made);
  });
}

int Type_create_hindexed(RankState& self,
                         MPI_Count count,
                         mpi::Integers array_of_blocklengths,
                         mpi::Integers array_of_displacements,
                         Datatype& oldtype,
                         MPI_Datatype* newtype,
                         bool is_large) {
  if (count < 0) return fail_count(self, count);
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_HINDEXED, is_large);
  recipe->count(count)
      .counts(array_of_blocklengths, count)
      .addresses(array_of_displacements, count)
      .type(oldtype);
  return give_type(self, newtype, recipe, [&](Datatype*& made) {
    return make_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, made);
  });
}

int Type_create_indexed_block(RankState& self,
                              MPI_Count count,
                              MPI_Count blocklength,
                              mpi::Integers array_of_displacements,
                              Datatype& oldtype,
                              MPI_Datatype* newtype,
                              bool is_large) {
  if (count < 0) return fail_count(self, count);
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_INDEXED_BLOCK, is_large);
  recipe->count(count).count(blocklength).counts(array_of_displacements, count).type(oldtype);
  return give_type(self, newtype, recipe, [&](Datatype*& made) {
    return make_indexed_block(count, blocklength, array_of_displacements, oldtype, made);
  });
}

int Type_create_hindexed_block(RankState& self,
                               MPI_Count count,
                               MPI_Count blocklength,
                               mpi::Integers array_of_displacements,
                               Datatype& oldtype,
                               MPI_Datatype* newtype,
                               bool is_large) {
  if (count < 0) return fail_count(self, count);
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_HINDEXED_BLOCK, is_large);
  recipe->count(count).count(blocklength).addresses(array_of_displacements, count).type(oldtype);
  return give_type(self, newtype, recipe, [&](Datatype*& made) {
    return make_hindexed_block(count, blocklength, array_of_displacements, oldtype, made);
  });
}

int Type_create_struct(RankState& self,
                       MPI_Count count,
                       mpi::Integers array_of_blocklengths,
                       mpi::Integers array_of_displacements,
                       const MPI_Datatype array_of_types[],
                       MPI_Datatype* newtype,
                       bool is_large) {
  if (count < 0) return fail_count(self, count);
  if (const int error = check_members(self, count, array_of_types); error != MPI_SUCCESS)
    return error;
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_STRUCT, is_large);
  recipe->count(count)
      .counts(array_of_blocklengths, count)
      .addresses(array_of_displacements, count);
  for (MPI_Count i = 0; i < count; ++i)
    recipe->type(*mpi::datatype_from_handle(array_of_types[i]));
  return give_type(self, newtype, recipe, [&](Datatype*& made) {
    return mpi::make_struct(count, array_of_blocklengths, array_of_displacements, array_of_types,
                            made);
  });
}

int Type_create_subarray(RankState& self,
                         int ndims,
                         mpi::Integers array_of_sizes,
                         mpi::Integers array_of_subsizes,
                         mpi::Integers array_of_starts,
                         int order,
                         Datatype& oldtype,
                         MPI_Datatype* newtype,
                         bool is_large) {
  if (const int error = check_subarray(self, ndims, order); error != MPI_SUCCESS) return error;
  const mpi::SubarrayShape shape{
      ndims, array_of_sizes, array_of_subsizes, array_of_starts,
      order == MPI_ORDER_C ? mpi::ArrayOrder::c : mpi::ArrayOrder::fortran};
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_SUBARRAY, is_large);
  recipe->integer(ndims)
      .counts(array_of_sizes, ndims)
      .counts(array_of_subsizes, ndims)
      .counts(array_of_starts, ndims)
      .integer(order)
      .type(oldtype);
  return give_type(self, newtype, recipe,
                   [&](Datatype*& made) { return make_subarray(shape, oldtype, made); });
}

int Type_create_resized(RankState& self,
                        Datatype& oldtype,
                        MPI_Count lb,
                        MPI_Count extent,
                        MPI_Datatype* newtype,
                        bool is_large) {
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_RESIZED, is_large);
  recipe->address(lb).address(extent).type(oldtype);
  return give_type(self, newtype, recipe,
                   [&](Datatype*& made) { return make_resized(lb, extent, oldtype, made); });
}

int Type_dup(RankState& self, Datatype& oldtype, MPI_Datatype* newtype) {
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_DUP, false);
  recipe->type(oldtype);
  int error =
      give_type(self, newtype, recipe, [&](Datatype*& made) { return make_dup(oldtype, made); });
  if (error != MPI_SUCCESS || self.services_if_used == nullptr) return error;
  error = self.services().type_attributes.copy(oldtype, *mpi::datatype_from_handle(*newtype));
  if (error == MPI_SUCCESS) return error;
  return self.fail(error, "a copy function of the attributes returned %d", error);
}

int Type_commit(RankState& self, MPI_Datatype* datatype) {
  Datatype* type = mpi::datatype_from_handle(*datatype);
  if (type == nullptr) return fail_datatype(self, *datatype);
  type->commit();
  return MPI_SUCCESS;
}

int Type_free(RankState& self, MPI_Datatype* datatype) {
  Datatype* type = mpi::datatype_from_handle(*datatype);
  if (type == nullptr) return fail_datatype(self, *datatype);
  if (type->is_predefined())
    return self.fail(MPI_ERR_TYPE, "%s is predefined and cannot be freed", type->name());
  if (self.services_if_used != nullptr) {
    if (self.services().kind_types.has(*type))
      return self.fail(MPI_ERR_TYPE, "datatypes of MPI_Type_create_f90_* cannot be freed");
    const int error = self.services().type_attributes.drop_handle(*type);
    if (error != MPI_SUCCESS)
      return self.fail(error, "a delete function of the attributes returned %d", error);
  }
  type->release();
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
