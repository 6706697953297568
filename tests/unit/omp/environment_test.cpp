#include "omp/icv/environment.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace sorrel::omp {
namespace {

Environment read(const std::map<std::string, std::string>& variables) {
  return read_environment(
      [&](const char* name) {
        const auto at = variables.find(name);
        return at == variables.end() ? nullptr : at->second.c_str();
      },
      8);
}

TEST(Environment, without_variables_is_the_standards_default) {
  const Environment result = read({});
  EXPECT_EQ(result.icv.thread_count, 8U);
  EXPECT_EQ(result.icv.schedule, Schedule::dynamic);
  EXPECT_EQ(result.icv.chunk, 1);
  EXPECT_EQ(result.icv.active_levels_max, 1U);
  EXPECT_FALSE(result.icv.is_dynamic);
  EXPECT_TRUE(result.diagnostics.empty());
}

TEST(Environment, a_list_of_numbers_is_one_for_each_level) {
  const Environment result = read({{"OMP_NUM_THREADS", " 4 , 3,2"}});
  EXPECT_EQ(result.icv.thread_count, 4U);
  EXPECT_EQ(result.thread_counts, (std::vector<std::uint32_t>{4, 3, 2}));
  EXPECT_EQ(result.icv.active_levels_max, active_levels_supported);
  // The number of threads that run at once is not the program's number.
  EXPECT_EQ(result.loop_settings.limits.width_max, 8U);
}

TEST(Environment, schedules_have_modifiers_and_chunks) {
  EXPECT_EQ(read({{"OMP_SCHEDULE", "Static, 16"}}).icv.chunk, 16);
  EXPECT_TRUE(read({{"OMP_SCHEDULE", "static"}}).icv.is_monotonic);
  EXPECT_EQ(read({{"OMP_SCHEDULE", "nonmonotonic:guided"}}).icv.schedule, Schedule::guided);
  EXPECT_TRUE(read({{"OMP_SCHEDULE", "monotonic:dynamic,2"}}).icv.is_monotonic);
}

TEST(Environment, stack_sizes_have_units) {
  EXPECT_EQ(read({{"OMP_STACKSIZE", "512"}}).stack_bytes, 512U * 1024);
  EXPECT_EQ(read({{"OMP_STACKSIZE", "2 M"}}).stack_bytes, 2U * 1024 * 1024);
  EXPECT_EQ(read({{"GOMP_STACKSIZE", "64k"}, {"OMP_STACKSIZE", "65536B"}}).stack_bytes, 65536U);
}

TEST(Environment, levels_follow_nesting_unless_they_are_given) {
  EXPECT_EQ(read({{"OMP_NESTED", "true"}}).icv.active_levels_max, active_levels_supported);
  EXPECT_EQ(read({{"OMP_NESTED", "true"}, {"OMP_MAX_ACTIVE_LEVELS", "3"}}).icv.active_levels_max,
            3U);
}

TEST(Environment, a_wrong_value_is_told_with_what_is_allowed) {
  for (const auto& [name, value] :
       {std::pair{"OMP_NUM_THREADS", "0"}, std::pair{"OMP_NUM_THREADS", "3,"},
        std::pair{"OMP_SCHEDULE", "static,0"}, std::pair{"OMP_DYNAMIC", "maybe"},
        std::pair{"OMP_STACKSIZE", "1K"}, std::pair{"OMP_THREAD_LIMIT", "-1"},
        std::pair{"OMP_PROC_BIND", "near"}, std::pair{"OMP_PLACES", "bogus"},
        std::pair{"GOMP_CPU_AFFINITY", "3-1"}, std::pair{"KMP_AFFINITY", "near"},
        std::pair{"OMP_WAIT_POLICY", "lazy"}, std::pair{"OMP_DISPLAY_ENV", "loud"},
        std::pair{"OMP_CANCELLATION", "2"}, std::pair{"OMP_MAX_ACTIVE_LEVELS", "x"}}) {
    const Environment result = read({{name, value}});
    ASSERT_EQ(result.diagnostics.size(), 1U) << name << "=" << value;
    EXPECT_EQ(result.diagnostics.front().find(std::string(name) + " must be "), 0U);
    EXPECT_NE(result.diagnostics.front().find(std::string("not '") + value + "'; using "),
              std::string::npos);
  }
}

TEST(Environment, BindingIsRequestedByTheStandardsVariablesBeforeThoseOfCompilers) {
  EXPECT_FALSE(read({}).requests_binding());
  EXPECT_FALSE(read({{"OMP_PROC_BIND", "false"}, {"OMP_PLACES", "cores"}}).requests_binding());
  const Environment places = read({{"OMP_PLACES", "cores(2)"}, {"GOMP_CPU_AFFINITY", "0-3"}});
  EXPECT_EQ(places.binds, std::vector{Bind::any});
  EXPECT_EQ(places.places.kind, PlaceRequest::Kind::cores);
  EXPECT_EQ(places.binding_names, "OMP_PLACES");
  const Environment binds = read({{"OMP_PROC_BIND", "close,spread"}, {"GOMP_CPU_AFFINITY", "3"}});
  EXPECT_EQ(binds.binds, (std::vector{Bind::close, Bind::spread}));
  EXPECT_EQ(binds.places.places, std::vector<Place>{{3}});
  EXPECT_EQ(binds.binding_names, "OMP_PROC_BIND and GOMP_CPU_AFFINITY");
  EXPECT_EQ(binds.icv.active_levels_max, active_levels_supported);
  const Environment alone = read({{"OMP_PROC_BIND", "spread"}});
  EXPECT_EQ(alone.places.kind, PlaceRequest::Kind::threads);
  const Environment intel = read({{"KMP_AFFINITY", "granularity=fine,scatter"}});
  EXPECT_EQ(intel.binds, std::vector{Bind::spread});
  EXPECT_EQ(intel.places.kind, PlaceRequest::Kind::threads);
  EXPECT_FALSE(read({{"KMP_AFFINITY", "none"}}).requests_binding());
  EXPECT_EQ(read({{"KMP_AFFINITY", "compact"}, {"OMP_PROC_BIND", "spread"}}).binds,
            std::vector{Bind::spread});
}

TEST(Environment, TeamsAllocatorAndOffloadAreRead) {
  const Environment result = read({{"OMP_NUM_TEAMS", "7"},
                                   {"OMP_TEAMS_THREAD_LIMIT", "9"},
                                   {"OMP_ALLOCATOR", "omp_pteam_mem_alloc"},
                                   {"OMP_TARGET_OFFLOAD", "Mandatory"},
                                   {"OMP_THREAD_LIMIT", "12"}});
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_EQ(result.team_count, 7U);
  EXPECT_EQ(result.teams_thread_limit, 9U);
  EXPECT_EQ(result.allocator, 7U);
  EXPECT_EQ(result.offload, Offload::mandatory);
  EXPECT_EQ(result.icv.thread_limit, 12U);
}

TEST(Environment, no_device_is_the_default_if_there_must_be_one) {
  EXPECT_EQ(read({{"OMP_TARGET_OFFLOAD", "mandatory"}}).icv.default_device, no_device);
  EXPECT_EQ(
      read({{"OMP_TARGET_OFFLOAD", "mandatory"}, {"OMP_DEFAULT_DEVICE", "0"}}).icv.default_device,
      0);
  EXPECT_EQ(read({{"OMP_TARGET_OFFLOAD", "default"}}).icv.default_device, 0);
}

TEST(Environment, what_is_displayed_is_what_was_set) {
  const std::string text = describe(
      read({{"OMP_NUM_THREADS", "4,2"}, {"OMP_SCHEDULE", "guided,7"}, {"OMP_DYNAMIC", "true"}}),
      false);
  EXPECT_NE(text.find("OMP_NUM_THREADS = '4,2'"), std::string::npos);
  EXPECT_NE(text.find("OMP_SCHEDULE = 'GUIDED,7'"), std::string::npos);
  EXPECT_NE(text.find("OMP_DYNAMIC = 'TRUE'"), std::string::npos);
}

}  // namespace
}  // namespace sorrel::omp
