// Making derived datatypes. MPI 5.0, 5.1.
#include "abi/call.hpp"
#include "abi/check.hpp"
#include "mpi/datatype/construct.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;
using mpi::Integers;

/// Says what a constructor's error class means, in words for the arguments the user gave.
int fail_construction(RankState& self, int error) {
  switch (error) {
    case MPI_ERR_COUNT:
      return self.fail(error, "more data than an MPI_Count can count");
    case MPI_ERR_TYPE:
      return self.fail(error, "datatypes nested more than %u deep", mpi::layout_depth_max);
    case MPI_ERR_NO_MEM:
      return self.fail(error, "no memory for the datatype");
    default:
      return self.fail(error, "a block length, size, start or displacement is out of range");
  }
}

/// make(new_type), with its result given to the user.
template <class Make>
int give_type(RankState& self, MPI_Datatype* handle, Make&& make) {
  if (handle == nullptr)
    return self.fail(MPI_ERR_ARG, "the place for the new datatype is a null pointer");
  Datatype* made = nullptr;
  const int error = make(made);
  if (error != MPI_SUCCESS) return fail_construction(self, error);
  *handle = handle_of(*made);
  return MPI_SUCCESS;
}

/// make(old_type, new_type) for a constructor with a count and an old type.
template <class Make>
int derive(RankState& self, int count, MPI_Datatype old_handle, MPI_Datatype* handle, Make&& make) {
  if (count < 0) return fail_count(self, count);
  const Datatype* old_type = mpi::datatype_from_handle(old_handle);
  if (old_type == nullptr) return fail_datatype(self, old_handle);
  return give_type(self, handle, [&](Datatype*& made) { return make(*old_type, made); });
}

int check_array(RankState& self, int count, const void* array) {
  if (count > 0 && array == nullptr)
    return self.fail(MPI_ERR_ARG, "an array is a null pointer, the count is %d", count);
  return MPI_SUCCESS;
}

int check_arrays(RankState& self, int count, const void* first, const void* second) {
  const int error = check_array(self, count, first);
  return error == MPI_SUCCESS ? check_array(self, count, second) : error;
}

int check_members(RankState& self, int count, const MPI_Datatype* types) {
  for (int i = 0; i < count; ++i)
    if (mpi::datatype_from_handle(types[i]) == nullptr)
      return self.fail(MPI_ERR_TYPE, "datatype %d of the struct is %s", i,
                       types[i] == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "none");
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return call("MPI_Type_contiguous", [&](RankState& self) {
    return derive(self, count, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_contiguous(count, old_type, made);
    });
  });
}

int PMPI_Type_vector(
    int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return call("MPI_Type_vector", [&](RankState& self) {
    return derive(self, count, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_vector({count, blocklength, stride}, old_type, made);
    });
  });
}

int PMPI_Type_create_hvector(
    int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return call("MPI_Type_create_hvector", [&](RankState& self) {
    return derive(self, count, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_hvector({count, blocklength, stride}, old_type, made);
    });
  });
}

int PMPI_Type_indexed(int count,
                      const int array_of_blocklengths[],
                      const int array_of_displacements[],
                      MPI_Datatype oldtype,
                      MPI_Datatype* newtype) {
  return call("MPI_Type_indexed", [&](RankState& self) {
    const int error = check_arrays(self, count, array_of_blocklengths, array_of_displacements);
    if (error != MPI_SUCCESS) return error;
    return derive(self, count, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_indexed(count, Integers(array_of_blocklengths), Integers(array_of_displacements),
                          old_type, made);
    });
  });
}

int PMPI_Type_create_hindexed(int count,
                              const int array_of_blocklengths[],
                              const MPI_Aint array_of_displacements[],
                              MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
  return call("MPI_Type_create_hindexed", [&](RankState& self) {
    const int error = check_arrays(self, count, array_of_blocklengths, array_of_displacements);
    if (error != MPI_SUCCESS) return error;
    return derive(self, count, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_hindexed(count, Integers(array_of_blocklengths), Integers(array_of_displacements),
                           old_type, made);
    });
  });
}

int PMPI_Type_create_indexed_block(int count,
                                   int blocklength,
                                   const int array_of_displacements[],
                                   MPI_Datatype oldtype,
                                   MPI_Datatype* newtype) {
  return call("MPI_Type_create_indexed_block", [&](RankState& self) {
    const int error = check_array(self, count, array_of_displacements);
    if (error != MPI_SUCCESS) return error;
    return derive(self, count, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_indexed_block(count, blocklength, Integers(array_of_displacements), old_type,
                                made);
    });
  });
}

int PMPI_Type_create_hindexed_block(int count,
                                    int blocklength,
                                    const MPI_Aint array_of_displacements[],
                                    MPI_Datatype oldtype,
                                    MPI_Datatype* newtype) {
  return call("MPI_Type_create_hindexed_block", [&](RankState& self) {
    const int error = check_array(self, count, array_of_displacements);
    if (error != MPI_SUCCESS) return error;
    return derive(self, count, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_hindexed_block(count, blocklength, Integers(array_of_displacements), old_type,
                                 made);
    });
  });
}

int PMPI_Type_create_struct(int count,
                            const int array_of_blocklengths[],
                            const MPI_Aint array_of_displacements[],
                            const MPI_Datatype array_of_types[],
                            MPI_Datatype* newtype) {
  return call("MPI_Type_create_struct", [&](RankState& self) {
    if (count < 0) return fail_count(self, count);
    int error = check_arrays(self, count, array_of_blocklengths, array_of_displacements);
    if (error == MPI_SUCCESS) error = check_array(self, count, array_of_types);
    if (error == MPI_SUCCESS) error = check_members(self, count, array_of_types);
    if (error != MPI_SUCCESS) return error;
    return give_type(self, newtype, [&](Datatype*& made) {
      return mpi::make_struct(count, Integers(array_of_blocklengths),
                              Integers(array_of_displacements), array_of_types, made);
    });
  });
}

int PMPI_Type_create_subarray(int ndims,
                              const int array_of_sizes[],
                              const int array_of_subsizes[],
                              const int array_of_starts[],
                              int order,
                              MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
  return call("MPI_Type_create_subarray", [&](RankState& self) {
    if (ndims < 1)
      return self.fail(MPI_ERR_ARG, "%d dimensions; there must be at least one", ndims);
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
      return self.fail(MPI_ERR_ARG, "order %d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
    int error = check_arrays(self, ndims, array_of_sizes, array_of_subsizes);
    if (error == MPI_SUCCESS) error = check_array(self, ndims, array_of_starts);
    if (error != MPI_SUCCESS) return error;
    const mpi::SubarrayShape shape{
        ndims, Integers(array_of_sizes), Integers(array_of_subsizes), Integers(array_of_starts),
        order == MPI_ORDER_C ? mpi::ArrayOrder::c : mpi::ArrayOrder::fortran};
    return derive(self, ndims, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_subarray(shape, old_type, made);
    });
  });
}

int PMPI_Type_create_resized(MPI_Datatype oldtype,
                             MPI_Aint lb,
                             MPI_Aint extent,
                             MPI_Datatype* newtype) {
  return call("MPI_Type_create_resized", [&](RankState& self) {
    return derive(self, 1, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_resized(lb, extent, old_type, made);
    });
  });
}

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return call("MPI_Type_dup", [&](RankState& self) {
    return derive(self, 1, oldtype, newtype, [&](const Datatype& old_type, Datatype*& made) {
      return make_dup(old_type, made);
    });
  });
}

int PMPI_Type_commit(MPI_Datatype* datatype) {
  return call("MPI_Type_commit", [&](RankState& self) {
    if (datatype == nullptr)
      return self.fail(MPI_ERR_ARG, "the place of the datatype is a null pointer");
    Datatype* type = mpi::datatype_from_handle(*datatype);
    if (type == nullptr) return fail_datatype(self, *datatype);
    type->commit();
    return MPI_SUCCESS;
  });
}

int PMPI_Type_free(MPI_Datatype* datatype) {
  return call("MPI_Type_free", [&](RankState& self) {
    if (datatype == nullptr)
      return self.fail(MPI_ERR_ARG, "the place of the datatype is a null pointer");
    Datatype* type = mpi::datatype_from_handle(*datatype);
    if (type == nullptr) return fail_datatype(self, *datatype);
    if (type->is_predefined())
      return self.fail(MPI_ERR_TYPE, "%s is predefined and cannot be freed", type->name());
    type->release();
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
  });
}

SORREL_WEAK(int, MPI_Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype* newtype))
SORREL_WEAK(int,
            MPI_Type_vector,
            (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype))
SORREL_WEAK(
    int,
    MPI_Type_create_hvector,
    (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype))
SORREL_WEAK(int,
            MPI_Type_indexed,
            (int count,
             const int array_of_blocklengths[],
             const int array_of_displacements[],
             MPI_Datatype oldtype,
             MPI_Datatype* newtype))
SORREL_WEAK(int,
            MPI_Type_create_hindexed,
            (int count,
             const int array_of_blocklengths[],
             const MPI_Aint array_of_displacements[],
             MPI_Datatype oldtype,
             MPI_Datatype* newtype))
SORREL_WEAK(int,
            MPI_Type_create_indexed_block,
            (int count,
             int blocklength,
             const int array_of_displacements[],
             MPI_Datatype oldtype,
             MPI_Datatype* newtype))
SORREL_WEAK(int,
            MPI_Type_create_hindexed_block,
            (int count,
             int blocklength,
             const MPI_Aint array_of_displacements[],
             MPI_Datatype oldtype,
             MPI_Datatype* newtype))
SORREL_WEAK(int,
            MPI_Type_create_struct,
            (int count,
             const int array_of_blocklengths[],
             const MPI_Aint array_of_displacements[],
             const MPI_Datatype array_of_types[],
             MPI_Datatype* newtype))
SORREL_WEAK(int,
            MPI_Type_create_subarray,
            (int ndims,
             const int array_of_sizes[],
             const int array_of_subsizes[],
             const int array_of_starts[],
             int order,
             MPI_Datatype oldtype,
             MPI_Datatype* newtype))
SORREL_WEAK(int,
            MPI_Type_create_resized,
            (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype))
SORREL_WEAK(int, MPI_Type_dup, (MPI_Datatype oldtype, MPI_Datatype* newtype))
SORREL_WEAK(int, MPI_Type_commit, (MPI_Datatype * datatype))
SORREL_WEAK(int, MPI_Type_free, (MPI_Datatype * datatype))

}  // extern "C"

}  // namespace sorrel::abi
