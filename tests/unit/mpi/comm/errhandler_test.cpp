#include "mpi/comm/errhandler.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

namespace sorrel::mpi {
namespace {

void do_nothing(MPI_Comm*, int*, ...) {}

TEST(Errhandler, PredefinedOnesAreConstants) {
  for (const MPI_Errhandler handle : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN}) {
    Errhandler* errhandler = errhandler_of(handle);
    ASSERT_NE(errhandler, nullptr);
    EXPECT_EQ(handle_of(*errhandler), handle);
    release(*errhandler);
    EXPECT_EQ(errhandler->reference_count, 1);
  }
  EXPECT_EQ(errhandler_of(MPI_ERRHANDLER_NULL), nullptr);
  EXPECT_EQ(errhandler_of(MPI_ERRORS_ARE_FATAL)->action, Errhandler::Action::fatal);
}

TEST(Errhandler, OwnOneLivesUntilItsLastReference) {
  const MPI_Errhandler handle = make_errhandler(do_nothing);
  Errhandler* errhandler = errhandler_of(handle);
  ASSERT_NE(errhandler, nullptr);
  EXPECT_EQ(errhandler->function, do_nothing);
  retain(*errhandler);
  release(*errhandler);
  EXPECT_EQ(errhandler_of(handle), errhandler);
  release(*errhandler);
}

}  // namespace
}  // namespace sorrel::mpi
