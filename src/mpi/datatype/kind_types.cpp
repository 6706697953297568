#include "mpi/datatype/kind_types.hpp"

namespace sorrel::mpi {

namespace {

/// A kind of numbers of gfortran on this processor: its decimal precision and range.
struct Kind {
  int precision;
  int range;
  MPI_Datatype real;
  MPI_Datatype complex;
};

/// The smallest kind with at least this precision and range; null if there is none.
const Kind* kind_for(int precision, int range) {
  static const Kind kinds[] = {{6, 37, MPI_REAL4, MPI_COMPLEX8},
                               {15, 307, MPI_REAL8, MPI_COMPLEX16},
                               {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
                               {33, 4931, MPI_REAL16, MPI_COMPLEX32}};
  for (const Kind& kind : kinds)
    if ((precision == MPI_UNDEFINED || precision <= kind.precision) &&
        (range == MPI_UNDEFINED || range <= kind.range))
      return &kind;
  return nullptr;
}

MPI_Datatype integer_for(int range) {
  return range <= 2    ? MPI_INTEGER1
         : range <= 4  ? MPI_INTEGER2
         : range <= 9  ? MPI_INTEGER4
         : range <= 18 ? MPI_INTEGER8
         : range <= 38 ? MPI_INTEGER16
                       : MPI_DATATYPE_NULL;
}

}  // namespace

MPI_Datatype KindTypes::base_of(const Key& key) {
  if (key.combiner == MPI_COMBINER_F90_INTEGER) return integer_for(key.first);
  const Kind* kind = kind_for(key.first, key.second);
  if (kind == nullptr) return MPI_DATATYPE_NULL;
  return key.combiner == MPI_COMBINER_F90_REAL ? kind->real : kind->complex;
}

}  // namespace sorrel::mpi
