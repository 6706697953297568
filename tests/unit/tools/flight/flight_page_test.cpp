#include "tools/sorrel/flight/flight_page.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

FlightPlan small_plan() {
  return {.folder = "/f",
          .report_file = "",
          .program = "app",
          .arguments = {"-n", "4", "./app", "a b"},
          .can_check = true,
          .can_trace = true,
          .can_be_verbose = true};
}

TEST(FlightPage, names_a_command_that_shows_more_of_an_error) {
  FlightPlan plan = small_plan();
  EXPECT_EQ(next_command(plan, "deadlock"), "sorrel run --check -n 4 ./app 'a b'");
  EXPECT_EQ(next_command(plan, "crash"), "sorrel run --check -n 4 ./app 'a b'");
  plan.can_check = false;
  EXPECT_EQ(next_command(plan, "deadlock"), "sorrel run --verbose -n 4 ./app 'a b'");
  plan.can_be_verbose = false;
  EXPECT_EQ(next_command(plan, "deadlock"), "");
}

TEST(FlightPage, names_a_command_that_shows_where_the_time_went) {
  FlightPlan plan = small_plan();
  EXPECT_EQ(next_command(plan, "idle"),
            "sorrel run --trace app.trace -n 4 ./app 'a b'; sorrel report app.trace");
  plan.can_trace = false;
  EXPECT_EQ(next_command(plan, "terminated"), "sorrel run --verbose -n 4 ./app 'a b'");
}

TEST(FlightPage, contains_what_the_script_shows_and_no_tag_of_the_data) {
  const Json data = {{"program", "</script><b>"}, {"kind", "deadlock"}};
  const std::string page = flight_page(data);
  EXPECT_NE(page.find("<title>&lt;/script>&lt;b>: deadlock - Sorrel</title>"), page.npos);
  EXPECT_NE(page.find(R"({"program":"\u003c/script>\u003cb>","kind":"deadlock"})"), page.npos);
  EXPECT_NE(page.find("default-src 'none'"), page.npos);
}

TEST(FlightPage, limits_the_ranks_and_says_how_many_are_left_out) {
  Json data = {{"report", {{"waits", {1, 2, 3}}, {"unreceived", {1}}}}};
  limit_ranks(data, 2);
  EXPECT_EQ(data["report"]["waits"].size(), 2U);
  EXPECT_EQ(data["left_out"], 1);
  EXPECT_FALSE(data.contains("messages_left_out"));
  limit_ranks(data, 2);
  EXPECT_EQ(data["report"]["waits"].size(), 2U);
}

}  // namespace
}  // namespace sorrel::tool
