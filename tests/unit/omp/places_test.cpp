// Goal: places are those that users list, and threads are distributed as the standard says. Method:
// texts, and two sockets of two cores of two hardware threads, numbered as usual: the second thread
// of core c is 4 + c.
#include "omp/icv/places.hpp"

#include <gtest/gtest.h>

namespace sorrel::omp {
namespace {

std::vector<os::Processor> machine() {
  std::vector<os::Processor> processors;
  for (int cpu = 0; cpu < 8; ++cpu) {
    const int core = cpu % 4;
    const int socket = core / 2 * 2;
    processors.push_back(
        {.cpu = cpu, .core = core, .cache = socket, .socket = socket, .node = core / 2});
  }
  return processors;
}

std::vector<Place> places(const char* text) {
  const auto request = read_places(text);
  EXPECT_TRUE(request.has_value()) << text;
  return request ? find_places(*request, machine()) : std::vector<Place>{};
}

std::vector<MemberPlace> distributed(Bind bind, const MemberPlace& master, std::size_t count) {
  std::vector<MemberPlace> members(count);
  distribute(bind, master, members);
  return members;
}

std::vector<std::uint32_t> numbers(const std::vector<MemberPlace>& members) {
  std::vector<std::uint32_t> list;
  for (const MemberPlace& member : members)
    list.push_back(member.number);
  return list;
}

TEST(Places, NumbersOfNoMachineAreLeftOut) {
  const auto request = read_places("{65530:4:5}:3:65535");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->places, (std::vector<Place>{{65530, 65535}}));
}

TEST(Places, ListsAreShort) {
  EXPECT_TRUE(read_places("{0:1024}:1024"));
  EXPECT_FALSE(read_places("{0:1024}:1025"));
  EXPECT_FALSE(read_places("{0:1024}:1024,{0}"));
  EXPECT_FALSE(read_places("{0:65535}:65535:65535"));
}

TEST(Places, KindsAreGroupsOfProcessors) {
  EXPECT_EQ(places("threads"), (std::vector<Place>{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}));
  EXPECT_EQ(places("CORES"), (std::vector<Place>{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(places("cores ( 3 )"), (std::vector<Place>{{0, 4}, {1, 5}, {2, 6}}));
  EXPECT_EQ(places("sockets"), (std::vector<Place>{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(places("ll_caches"), places("sockets"));
  EXPECT_EQ(places("numa_domains"), places("sockets"));
}

TEST(Places, ListsMayHaveIntervalsStridesAndExclusions) {
  EXPECT_EQ(places("{0,1},{2,3}"), (std::vector<Place>{{0, 1}, {2, 3}}));
  EXPECT_EQ(places("{0:2}:3:2"), (std::vector<Place>{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(places("{0:4:2}"), (std::vector<Place>{{0, 2, 4, 6}}));
  EXPECT_EQ(places("{0:4,!1}"), (std::vector<Place>{{0, 2, 3}}));
  EXPECT_EQ(places("{0}:4,!{1}"), (std::vector<Place>{{0}, {2}, {3}}));
  EXPECT_EQ(places("{4}:3:-2"), (std::vector<Place>{{4}, {2}, {0}}));
  EXPECT_EQ(places(" 5 , 1 "), (std::vector<Place>{{5}, {1}}));
}

TEST(Places, ProcessorsThatAreNotAllowedAreLeftOut) {
  EXPECT_EQ(places("{6:4},{8,9},{7,99}"), (std::vector<Place>{{6, 7}, {7}}));
}

TEST(Places, WrongListsAreRefused) {
  for (const char* wrong : {"bogus", "cores(", "cores(x)", "cores(0)", "cores(2)x", "{0", "{}",
                            "{0},", "{0:}", "{0:2:}", "{0}:x", "", "{-1}", "{0:0}"})
    EXPECT_FALSE(read_places(wrong).has_value()) << wrong;
}

TEST(Places, CpuAffinityIsAPlaceForEachProcessor) {
  EXPECT_EQ(read_cpu_affinity("0 3 1-2 4-7:2")->places,
            (std::vector<Place>{{0}, {3}, {1}, {2}, {4}, {6}}));
  EXPECT_EQ(read_cpu_affinity("5,4")->places, (std::vector<Place>{{5}, {4}}));
  for (const char* wrong : {"", "x", "3-1", "0-4:0", "0-", "1;2"})
    EXPECT_FALSE(read_cpu_affinity(wrong).has_value()) << wrong;
}

TEST(Places, BindIsFalseOrAListOfPolicies) {
  EXPECT_EQ(*read_bind("false"), std::vector{Bind::none});
  EXPECT_EQ(*read_bind("TRUE"), std::vector{Bind::any});
  EXPECT_EQ(*read_bind("master, close ,spread"),
            (std::vector{Bind::primary, Bind::close, Bind::spread}));
  for (const char* wrong : {"", "near", "close,", "false,close", "close,false", "2"})
    EXPECT_FALSE(read_bind(wrong).has_value()) << wrong;
}

TEST(Places, KmpAffinityNamesATypeAndAGrain) {
  const auto read = [](const char* text) { return *read_kmp_affinity(text); };
  EXPECT_EQ(read("none").bind, Bind::none);
  EXPECT_EQ(read("verbose,disabled").bind, Bind::none);
  EXPECT_EQ(read("compact").bind, Bind::close);
  EXPECT_EQ(read("compact").places.kind, PlaceRequest::Kind::cores);
  EXPECT_EQ(read("granularity=fine,compact,0,0").places.kind, PlaceRequest::Kind::threads);
  EXPECT_EQ(read("respect,granularity=core,balanced").bind, Bind::spread);
  const KmpAffinity listed = read("proclist=[3,{0,1},4-5],explicit");
  EXPECT_EQ(listed.bind, Bind::close);
  EXPECT_EQ(listed.places.places, (std::vector<Place>{{3}, {0, 1}, {4}, {5}}));
  for (const char* wrong : {"", "near", "explicit", "proclist=[1],compact", "granularity=tile",
                            "compact,1", "proclist=[1"})
    EXPECT_FALSE(read_kmp_affinity(wrong).has_value()) << wrong;
}

TEST(Places, CloseTakesTheNextPlacesFromTheMasters) {
  EXPECT_EQ(numbers(distributed(Bind::close, {6, 0, 8}, 4)),
            (std::vector<std::uint32_t>{6, 7, 0, 1}));
  EXPECT_EQ(numbers(distributed(Bind::any, {2, 2, 3}, 3)), (std::vector<std::uint32_t>{2, 3, 4}));
  // Seven threads on three places: the first one has one more.
  EXPECT_EQ(numbers(distributed(Bind::close, {3, 2, 3}, 7)),
            (std::vector<std::uint32_t>{3, 3, 3, 4, 4, 2, 2}));
  EXPECT_EQ(distributed(Bind::close, {3, 2, 3}, 7).back(), (MemberPlace{2, 2, 3}));
}

TEST(Places, SpreadDividesTheMastersPartition) {
  EXPECT_EQ(distributed(Bind::spread, {0, 0, 8}, 4),
            (std::vector<MemberPlace>{{0, 0, 2}, {2, 2, 2}, {4, 4, 2}, {6, 6, 2}}));
  // The master stays where it is; parts before its own follow at the end.
  EXPECT_EQ(distributed(Bind::spread, {5, 0, 8}, 3),
            (std::vector<MemberPlace>{{5, 3, 3}, {6, 6, 2}, {0, 0, 3}}));
  EXPECT_EQ(distributed(Bind::spread, {2, 2, 2}, 4),
            (std::vector<MemberPlace>{{2, 2, 1}, {2, 2, 1}, {3, 3, 1}, {3, 3, 1}}));
}

TEST(Places, PrimaryAndTeamsOfOneStayWithTheMaster) {
  EXPECT_EQ(distributed(Bind::primary, {5, 4, 2}, 3), std::vector<MemberPlace>(3, {5, 4, 2}));
  EXPECT_EQ(distributed(Bind::spread, {5, 4, 2}, 1), std::vector<MemberPlace>(1, {5, 4, 2}));
  EXPECT_EQ(distributed(Bind::none, {5, 4, 2}, 2), std::vector<MemberPlace>(2, {5, 4, 2}));
}

}  // namespace
}  // namespace sorrel::omp
