// Datatypes of distributed arrays and of Fortran's parameterized kinds. MPI 5.0, 5.1.4, 19.1.9.
#include "abi/body.hpp"
#include "abi/check.hpp"
#include "abi/give_type.hpp"
#include "mpi/datatype/darray.hpp"
#include "mpi/datatype/recipe.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;
using mpi::Recipe;

int check_shape(RankState& self, const mpi::DarrayShape& shape, int order) {
  if (shape.process_count < 1)
    return self.fail(MPI_ERR_ARG, "size is %d; it must be at least 1", shape.process_count);
  if (shape.rank < 0 || shape.rank >= shape.process_count)
    return self.fail(MPI_ERR_RANK, "rank is %d; it must be in 0..%d", shape.rank,
                     shape.process_count - 1);
  if (shape.dimensions < 1)
    return self.fail(MPI_ERR_ARG, "ndims is %d; it must be at least 1", shape.dimensions);
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return self.fail(MPI_ERR_ARG, "order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN",
                     order);
  return MPI_SUCCESS;
}

/// The rank's datatype for these arguments, which is never freed: a copy of `base`.
int give_kind(RankState& self,
              MPI_Datatype base,
              const mpi::KindTypes::Key& key,
              MPI_Datatype* newtype) {
  mpi::KindTypes& types = self.services().kind_types;
  if (const Datatype* made = types.find(key)) {
    *newtype = handle_of(*made);
    return MPI_SUCCESS;
  }
  auto recipe = std::make_unique<Recipe>(key.combiner, false);
  recipe->integer(key.first);
  if (key.combiner != MPI_COMBINER_F90_INTEGER) recipe->integer(key.second);
  Datatype* made = nullptr;
  const int error = give_type(self, newtype, recipe, [&](Datatype*& result) {
    const int failed = make_dup(*mpi::datatype_from_handle(base), result);
    made = result;
    return failed;
  });
  if (error == MPI_SUCCESS) types.add(key, *made);
  return error;
}

int give_number(RankState& self, int combiner, int p, int r, MPI_Datatype* newtype) {
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
    return self.fail(MPI_ERR_ARG, "p and r are MPI_UNDEFINED; one must be a number");
  const mpi::KindTypes::Key key{combiner, p, r};
  const MPI_Datatype base = mpi::KindTypes::base_of(key);
  if (base == MPI_DATATYPE_NULL)
    return self.fail(MPI_ERR_ARG, "no kind of real numbers has the precision %d and the range %d",
                     p, r);
  return give_kind(self, base, key, newtype);
}

}  // namespace

namespace body {

int Type_create_darray(RankState& self,
                       int size,
                       int rank,
                       int ndims,
                       mpi::Integers array_of_gsizes,
                       const int array_of_distribs[],
                       const int array_of_dargs[],
                       const int array_of_psizes[],
                       int order,
                       Datatype& oldtype,
                       MPI_Datatype* newtype,
                       bool is_large) {
  const mpi::DarrayShape shape{
      .process_count = size,
      .rank = rank,
      .dimensions = ndims,
      .sizes = array_of_gsizes,
      .distributions = array_of_distribs,
      .arguments = array_of_dargs,
      .grid = array_of_psizes,
      .order = order == MPI_ORDER_C ? mpi::ArrayOrder::c : mpi::ArrayOrder::fortran};
  if (const int error = check_shape(self, shape, order); error != MPI_SUCCESS) return error;
  auto recipe = std::make_unique<Recipe>(MPI_COMBINER_DARRAY, is_large);
  recipe->integer(size).integer(rank).integer(ndims).counts(array_of_gsizes, ndims);
  for (const int* numbers : {array_of_distribs, array_of_dargs, array_of_psizes})
    for (int i = 0; i < ndims; ++i)
      recipe->integer(numbers[i]);
  recipe->integer(order).type(oldtype);
  return give_type(self, newtype, recipe, [&](Datatype*& made) {
    return make_darray(shape, oldtype, made, self.detail());
  });
}

int Type_create_f90_real(RankState& self, int p, int r, MPI_Datatype* newtype) {
  return give_number(self, MPI_COMBINER_F90_REAL, p, r, newtype);
}

int Type_create_f90_complex(RankState& self, int p, int r, MPI_Datatype* newtype) {
  return give_number(self, MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}

int Type_create_f90_integer(RankState& self, int r, MPI_Datatype* newtype) {
  const mpi::KindTypes::Key key{MPI_COMBINER_F90_INTEGER, r, 0};
  const MPI_Datatype base = mpi::KindTypes::base_of(key);
  if (base == MPI_DATATYPE_NULL)
    return self.fail(MPI_ERR_ARG, "no kind of integers has the range %d", r);
  return give_kind(self, base, key, newtype);
}

}  // namespace body

}  // namespace sorrel::abi
