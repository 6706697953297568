#include "mpi/job/port_table.hpp"

#include <gtest/gtest.h>
#include <set>

namespace sorrel::mpi {
namespace {

using Side = PortTable::Side;
using Outcome = PortTable::Outcome;

TEST(PortTable, TheSecondRankMeetsTheFirstOneThatWaitsOnTheOtherSide) {
  PortTable table;
  const std::string port = table.open(3);
  const PortTable::Meeting first = table.meet(port, Side::accept, 3);
  const PortTable::Meeting second = table.meet(port, Side::accept, 4);
  EXPECT_EQ(first.outcome, Outcome::waits);
  EXPECT_EQ(second.outcome, Outcome::waits);
  EXPECT_NE(first.caller.ticket, second.caller.ticket);
  const PortTable::Meeting met = table.meet(port, Side::connect, 9);
  EXPECT_EQ(met.outcome, Outcome::meets);
  EXPECT_EQ(met.caller, first.caller);
  EXPECT_EQ(table.meet(port, Side::connect, 10).caller, second.caller);
  EXPECT_EQ(table.meet(port, Side::connect, 11).outcome, Outcome::waits);
}

TEST(PortTable, APortThatIsClosedNamesTheRanksThatWaitThereAndIsNeverOpenAgain) {
  PortTable table;
  const std::string port = table.open(0);
  const auto waiting = table.meet(port, Side::connect, 5).caller;
  const auto left = table.close(port);
  ASSERT_TRUE(left.has_value());
  EXPECT_EQ(*left, std::vector{waiting});
  EXPECT_FALSE(table.close(port).has_value());
  EXPECT_EQ(table.meet(port, Side::accept, 0).outcome, Outcome::no_port);
  EXPECT_NE(table.open(0), port);
}

TEST(PortTable, ThePortsOfARankThatEndsAreClosed) {
  PortTable table;
  const std::string of_first = table.open(1);
  const std::string of_second = table.open(2);
  const auto waiting = table.meet(of_first, Side::connect, 5).caller;
  EXPECT_EQ(table.close_all_of(1), std::vector{waiting});
  EXPECT_EQ(table.open_count(), 1U);
  EXPECT_EQ(table.meet(of_second, Side::accept, 2).outcome, Outcome::waits);
}

TEST(PortTable, AServiceHasOnePort) {
  PortTable table;
  EXPECT_TRUE(table.publish("ocean", "a"));
  EXPECT_FALSE(table.publish("ocean", "b"));
  EXPECT_EQ(table.lookup("ocean"), "a");
  EXPECT_TRUE(table.unpublish("ocean"));
  EXPECT_FALSE(table.unpublish("ocean"));
  EXPECT_EQ(table.lookup("ocean"), std::nullopt);
}

TEST(PortTable, PortsOfDifferentJobsHaveDifferentNames) {
  PortTable first;
  PortTable second;
  first.set_job(1);
  second.set_job(2);
  EXPECT_NE(first.open(0), second.open(0));
}

TEST(PortTable, TheNameOfAPortSaysTheProcessThatHasIt) {
  PortTable first(0, 3);
  PortTable last(2, 3);
  for (PortTable* table : {&first, &last})
    table->set_job(77);
  EXPECT_EQ(first.process_of(last.open(5)), 2U);
  EXPECT_EQ(last.process_of(first.open(0)), 0U);
  for (const char* name : {"", "sorrel:77:", "sorrel:77:3:1", "sorrel:77:x:1", "sorrel:77:1",
                           "sorrel:78:1:1", "sorrel:77:-1:1", "sorrel:77:99999999999:1"})
    EXPECT_FALSE(first.process_of(name).has_value()) << name;
}

TEST(PortTable, ProcessesGiveDifferentTickets) {
  PortTable first(0, 2);
  PortTable second(1, 2);
  std::set<std::int32_t> tickets;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(tickets.insert(first.new_ticket()).second);
    EXPECT_TRUE(tickets.insert(second.new_ticket()).second);
  }
}

}  // namespace
}  // namespace sorrel::mpi
