#include "mpi/comm/attribute.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <vector>

namespace sorrel::mpi {
namespace {

void* pointer(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);
}

// The arguments of the callbacks below; their extra_state.
struct Calls {
  std::vector<void*> removed;
  int copy_result = MPI_SUCCESS;
  int remove_result = MPI_SUCCESS;
  int is_wanted = 1;
};

int copy_next(MPI_Comm, int, void* extra, void* in, void* out, int* flag) {
  const auto& calls = *static_cast<Calls*>(extra);
  *static_cast<void**>(out) = static_cast<char*>(in) + 1;
  *flag = calls.is_wanted;
  return calls.copy_result;
}

int note_removal(MPI_Comm, int, void* value, void* extra) {
  auto& calls = *static_cast<Calls*>(extra);
  if (calls.remove_result == MPI_SUCCESS) calls.removed.push_back(value);
  return calls.remove_result;
}

class Attributes : public testing::Test {
 protected:
  Keyval& key() { return table.create(copy_next, note_removal, &calls); }

  static void* value_of(const AttributeMap& map, const Keyval& keyval) {
    void* value = nullptr;
    return map.get(keyval, &value) ? value : nullptr;
  }

  Calls calls;
  KeyvalTable table;
  AttributeMap map;
  ErrorDetail detail;
};

TEST_F(Attributes, SetReplacesAndDeletesTheOldValue) {
  Keyval& keyval = key();
  EXPECT_EQ(map.set(MPI_COMM_SELF, keyval, pointer(8)), MPI_SUCCESS);
  EXPECT_TRUE(calls.removed.empty());
  EXPECT_EQ(map.set(MPI_COMM_SELF, keyval, pointer(16)), MPI_SUCCESS);
  EXPECT_EQ(calls.removed, std::vector{pointer(8)});
  EXPECT_EQ(value_of(map, keyval), pointer(16));
  EXPECT_EQ(keyval.reference_count, 2);
}

TEST_F(Attributes, NullValueIsAnAttributeToo) {
  Keyval& keyval = key();
  void* value = pointer(1);
  EXPECT_FALSE(map.get(keyval, &value));
  EXPECT_EQ(map.set(MPI_COMM_SELF, keyval, nullptr), MPI_SUCCESS);
  EXPECT_TRUE(map.get(keyval, &value));
  EXPECT_EQ(value, nullptr);
}

TEST_F(Attributes, AllAreDeletedLastSetFirst) {
  for (std::uintptr_t i = 1; i <= 3; ++i)
    EXPECT_EQ(map.set(MPI_COMM_SELF, key(), pointer(i)), MPI_SUCCESS);
  EXPECT_EQ(map.erase_all(MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_EQ(calls.removed, (std::vector{pointer(3), pointer(2), pointer(1)}));
}

TEST_F(Attributes, FailedDeletionLeavesTheAttribute) {
  Keyval& keyval = key();
  EXPECT_EQ(map.set(MPI_COMM_SELF, keyval, pointer(8)), MPI_SUCCESS);
  calls.remove_result = 77;
  EXPECT_EQ(map.erase(MPI_COMM_SELF, keyval), 77);
  EXPECT_EQ(map.set(MPI_COMM_SELF, keyval, pointer(16)), 77);
  EXPECT_EQ(map.erase_all(MPI_COMM_SELF), 77);
  EXPECT_EQ(value_of(map, keyval), pointer(8));
}

TEST_F(Attributes, CopyAsksTheCallbackOfEachKey) {
  Keyval& asked = key();
  Keyval& always = table.create(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, nullptr);
  Keyval& never = table.create(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, nullptr);
  for (Keyval* keyval : {&asked, &always, &never})
    EXPECT_EQ(map.set(MPI_COMM_SELF, *keyval, pointer(8)), MPI_SUCCESS);
  AttributeMap copy;
  EXPECT_EQ(map.copy_to(MPI_COMM_SELF, copy), MPI_SUCCESS);
  EXPECT_EQ(value_of(copy, asked), pointer(9));
  EXPECT_EQ(value_of(copy, always), pointer(8));
  EXPECT_EQ(value_of(copy, never), nullptr);
  calls.is_wanted = 0;
  AttributeMap second;
  EXPECT_EQ(map.copy_to(MPI_COMM_SELF, second), MPI_SUCCESS);
  EXPECT_EQ(value_of(second, asked), nullptr);
}

TEST_F(Attributes, CopyStopsAtTheFirstError) {
  Keyval& keyval = key();
  EXPECT_EQ(map.set(MPI_COMM_SELF, keyval, pointer(8)), MPI_SUCCESS);
  calls.copy_result = 78;
  AttributeMap copy;
  EXPECT_EQ(map.copy_to(MPI_COMM_SELF, copy), 78);
  EXPECT_EQ(value_of(copy, keyval), nullptr);
  EXPECT_EQ(keyval.reference_count, 2);
}

TEST_F(Attributes, FreedKeyLivesAsLongAsAnAttributeUsesIt) {
  Keyval& keyval = key();
  const int number = keyval.number;
  EXPECT_EQ(map.set(MPI_COMM_SELF, keyval, pointer(8)), MPI_SUCCESS);
  EXPECT_EQ(table.free(number, AttributeOwner::comm, detail), MPI_SUCCESS);
  EXPECT_EQ(table.find(number, AttributeOwner::comm), &keyval);
  EXPECT_EQ(table.free(number, AttributeOwner::comm, detail), MPI_ERR_KEYVAL);
  EXPECT_EQ(map.erase(MPI_COMM_SELF, keyval), MPI_SUCCESS);
  EXPECT_EQ(calls.removed, std::vector{pointer(8)});
  EXPECT_EQ(table.find(number, AttributeOwner::comm), nullptr);
}

TEST_F(Attributes, NumbersOfFreedKeysAreUsedAgain) {
  const int first = key().number;
  const int second = key().number;
  EXPECT_NE(first, second);
  EXPECT_GE(first, KeyvalTable::first_number);
  EXPECT_EQ(table.free(first, AttributeOwner::comm, detail), MPI_SUCCESS);
  EXPECT_EQ(key().number, first);
}

TEST_F(Attributes, AKeyIsForOneKindOfObject) {
  const int of_comms = key().number;
  const int of_windows = table.create_for_windows(MPI_WIN_NULL_DELETE_FN, nullptr).number;
  EXPECT_NE(of_comms, of_windows);
  EXPECT_EQ(table.find(of_comms, AttributeOwner::win), nullptr);
  EXPECT_EQ(table.find(of_windows, AttributeOwner::comm), nullptr);
  EXPECT_NE(table.find(of_windows, AttributeOwner::win), nullptr);
  EXPECT_EQ(table.free(of_windows, AttributeOwner::comm, detail), MPI_ERR_KEYVAL);
  EXPECT_EQ(table.free(of_windows, AttributeOwner::win, detail), MPI_SUCCESS);
}

TEST_F(Attributes, OtherNumbersAreNoKeys) {
  for (const int number : {MPI_KEYVAL_INVALID, -1, MPI_TAG_UB, KeyvalTable::first_number}) {
    EXPECT_EQ(table.find(number, AttributeOwner::comm), nullptr);
    EXPECT_EQ(table.free(number, AttributeOwner::comm, detail), MPI_ERR_KEYVAL);
  }
}

// A delete callback that sets another attribute of the same communicator.
struct Chain {
  AttributeMap* map;
  Keyval* next;
};

int set_next(MPI_Comm comm, int, void*, void* extra) {
  const auto& chain = *static_cast<Chain*>(extra);
  return chain.map->set(comm, *chain.next, pointer(99));
}

TEST_F(Attributes, DeleteCallbackMaySetAnotherAttribute) {
  Keyval& next = key();
  Chain chain{.map = &map, .next = &next};
  Keyval& first = table.create(MPI_COMM_NULL_COPY_FN, set_next, &chain);
  EXPECT_EQ(map.set(MPI_COMM_SELF, first, pointer(8)), MPI_SUCCESS);
  EXPECT_EQ(map.erase_all(MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_EQ(calls.removed, std::vector{pointer(99)});
}

TEST(PredefinedAttributes, AnswersTheNumbersOfTheStandardAbi) {
  PredefinedAttributes predefined;
  for (const int number : {MPI_TAG_UB, MPI_IO, MPI_HOST, MPI_WTIME_IS_GLOBAL, MPI_APPNUM,
                           MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE})
    EXPECT_NE(predefined.find(number), nullptr) << number;
  EXPECT_EQ(predefined.find(MPI_KEYVAL_INVALID), nullptr);
  EXPECT_EQ(*predefined.find(MPI_TAG_UB), tag_max);
}

}  // namespace
}  // namespace sorrel::mpi
