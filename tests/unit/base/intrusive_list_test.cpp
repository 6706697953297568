#include "base/intrusive_list.hpp"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace sorrel {
namespace {

struct Item : ListNode<Item> {
  int value = 0;
};

std::vector<int> values_of(IntrusiveList<Item>& list) {
  std::vector<int> values;
  for (Item* item = list.front(); item != nullptr; item = list.next_of(*item))
    values.push_back(item->value);
  return values;
}

class IntrusiveListTest : public testing::Test {
 protected:
  IntrusiveListTest() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].value = static_cast<int>(i);
      list_.push_back(items_[i]);
    }
  }

  std::array<Item, 3> items_;
  IntrusiveList<Item> list_;
};

TEST_F(IntrusiveListTest, KeepsTheOrderOfAdding) {
  EXPECT_EQ(values_of(list_), (std::vector<int>{0, 1, 2}));
}

TEST_F(IntrusiveListTest, RemovesAnElementFromTheMiddle) {
  IntrusiveList<Item>::remove(items_[1]);
  EXPECT_EQ(values_of(list_), (std::vector<int>{0, 2}));
  EXPECT_FALSE(items_[1].is_linked());
}

TEST_F(IntrusiveListTest, ARemovedElementCanBeAddedAgain) {
  IntrusiveList<Item>::remove(items_[0]);
  list_.push_back(items_[0]);
  EXPECT_EQ(values_of(list_), (std::vector<int>{1, 2, 0}));
}

TEST_F(IntrusiveListTest, FindsTheFirstThatIsAccepted) {
  EXPECT_EQ(list_.find_if([](const Item& item) { return item.value > 0; }), &items_[1]);
  EXPECT_EQ(list_.find_if([](const Item& item) { return item.value > 2; }), nullptr);
}

TEST_F(IntrusiveListTest, ReplacesAnElementInItsPlace) {
  Item item;
  item.value = 7;
  IntrusiveList<Item>::replace(items_[1], item);
  EXPECT_EQ(values_of(list_), (std::vector<int>{0, 7, 2}));
  EXPECT_FALSE(items_[1].is_linked());
  IntrusiveList<Item>::remove(item);
  EXPECT_EQ(values_of(list_), (std::vector<int>{0, 2}));
}

TEST_F(IntrusiveListTest, PopsFromTheFrontUntilEmpty) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(list_.pop_front()->value, i);
  EXPECT_TRUE(list_.empty());
  EXPECT_EQ(list_.pop_front(), nullptr);
}

}  // namespace
}  // namespace sorrel
