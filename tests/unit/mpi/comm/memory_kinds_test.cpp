#include "mpi/comm/memory_kinds.hpp"

#include <gtest/gtest.h>

namespace sorrel::mpi {
namespace {

TEST(MemoryKinds, AllThatAreReturnedAreSupported) {
  for (const bool has_cuda : {false, true})
    EXPECT_TRUE(are_memory_kinds_supported(supported_memory_kinds(has_cuda), has_cuda));
  EXPECT_FALSE(are_memory_kinds_supported(supported_memory_kinds(true), false));
}

TEST(MemoryKinds, MayHaveRestrictorsInAnyCase) {
  EXPECT_TRUE(are_memory_kinds_supported("system", false));
  EXPECT_TRUE(are_memory_kinds_supported("System,MPI:alloc_mem:Win_Allocate", false));
  EXPECT_TRUE(are_memory_kinds_supported(" cuda:device , system", true));
  EXPECT_TRUE(are_memory_kinds_supported("", false)) << "no kinds";
}

TEST(MemoryKinds, AreNotSupportedIfOneIsUnknown) {
  EXPECT_FALSE(are_memory_kinds_supported("system,rocm", true));
  EXPECT_FALSE(are_memory_kinds_supported("cuda:shared", true));
  EXPECT_FALSE(are_memory_kinds_supported("system:device", true)) << "system has no restrictors";
  EXPECT_FALSE(are_memory_kinds_supported("mpi:", true));
  EXPECT_FALSE(are_memory_kinds_supported("mpi::alloc_mem", true));
  EXPECT_FALSE(are_memory_kinds_supported("system,", true));
  EXPECT_FALSE(are_memory_kinds_supported(",system", true));
  EXPECT_FALSE(are_memory_kinds_supported("systems", true));
}

}  // namespace
}  // namespace sorrel::mpi
