#include "mpi/match/request_pool.hpp"

#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "mpi/match/complete.hpp"

namespace sorrel::mpi {
namespace {

TEST(RequestPool, GivesDistinctFreshRequests) {
  RequestPool pool;
  std::set<Request*> taken;
  for (int i = 0; i < 1000; ++i) {
    Request& request = pool.take();
    EXPECT_TRUE(taken.insert(&request).second);
    EXPECT_FALSE(request.is_active);
    EXPECT_FALSE(request.completion.is_done());
    request.is_active = true;
    request.error = MPI_ERR_TRUNCATE;
  }
  for (Request* request : taken)
    pool.give_back(*request);
}

TEST(RequestPool, TakesARequestBackOnce) {
  if (SORREL_ASSERT_LEVEL == 0) GTEST_SKIP();
  RequestPool pool;
  Request& request = pool.take();
  pool.give_back(request);
  EXPECT_DEATH(pool.give_back(request), "given back twice");
}

TEST(RequestPool, TheCheckFindsARequestThatIsTwiceInTheFreeList) {
  RequestPool pool;
  Request& request = pool.take();
  pool.check_invariants();
  pool.give_back(request);
  pool.check_invariants();
  request.header.kind = ObjectKind::request;
  pool.give_back(request);
  EXPECT_DEATH(pool.check_invariants(), "the free list is a circle");
}

TEST(RequestPool, UsesReturnedRequestsAgainAsNew) {
  RequestPool pool;
  Request& first = pool.take();
  first.error = MPI_ERR_TRUNCATE;
  make_persistent(first);
  pool.give_back(first);
  Request& second = pool.take();
  EXPECT_EQ(&second, &first);
  EXPECT_EQ(second.error, MPI_SUCCESS);
  EXPECT_EQ(second.life, Request::Life::once);
  pool.give_back(second);
}

TEST(RequestPool, MakesTheHandleOfAReturnedRequestStale) {
  RequestPool pool;
  Request& request = pool.take();
  const MPI_Request handle = handle_of(request);
  EXPECT_EQ(object_of<Request>(handle), &request);
  pool.give_back(request);
  EXPECT_EQ(object_of<Request>(handle), nullptr);
}

TEST(RequestLife, AnActiveRequestIsNotStartedAgain) {
  if (SORREL_ASSERT_LEVEL == 0) GTEST_SKIP();
  Request request;
  make_persistent(request);
  activate(request);
  EXPECT_DEATH(activate(request), "no wait has ended the last start");
  deactivate(request);
  activate(request);
}

}  // namespace
}  // namespace sorrel::mpi
