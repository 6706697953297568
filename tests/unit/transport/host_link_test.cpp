#include "transport/host/host_link.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"
#include "unit/transport/fake_host.hpp"

namespace sorrel::transport {
namespace {

constexpr HostLimits small{
    .payload_bytes_max = 1024, .credits = 4, .send_slots = 3, .queue_count_max = 16};

struct Links {
  explicit Links(std::uint32_t process_count, const HostLimits& limits = small)
      : hosts(process_count) {
    for (std::uint32_t i = 0; i < process_count; ++i) {
      const HostJob job = hosts.job(i);
      links.push_back(std::make_unique<HostLink>(*job.api, job.host, i, process_count, limits));
    }
  }

  FakeHosts hosts;
  std::vector<std::unique_ptr<HostLink>> links;
};

HostHeader numbered(std::uint32_t number) {
  HostHeader header;
  header.words[0] = number;
  return header;
}

TEST(HostLinkTest, APacketArrivesWithItsWordsItsPayloadAndItsSender) {
  Links links(2);
  std::vector<std::byte> payload(1024);
  for (std::size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<std::byte>(i * 7);
  const HostHeader header{
      .kind = 7, .credits = 0, .from_worker = 3, .to_worker = 5, .words = {1, 2, 3, 4}};
  ASSERT_TRUE(links.links[1]->try_send(0, header, payload.data(), 1024));
  HostLink::Arrival arrival;
  ASSERT_TRUE(links.links[0]->take(arrival));
  EXPECT_EQ(arrival.process, 1U);
  EXPECT_EQ(arrival.header.from_worker, 3U);
  EXPECT_EQ(arrival.header.to_worker, 5U);
  EXPECT_EQ(arrival.header.kind, 7U);
  EXPECT_EQ(arrival.header.words[3], 4U);
  ASSERT_EQ(arrival.payload_bytes, 1024U);
  EXPECT_EQ(std::memcmp(arrival.payload, payload.data(), 1024), 0);
  EXPECT_FALSE(links.links[0]->take(arrival));
}

TEST(HostLinkTest, ASenderIsRefusedWhenTheReceiverGivesNothingBackAndGoesOnWhenItDoes) {
  Links links(2);
  std::uint32_t sent = 0;
  while (links.links[0]->try_send(1, numbered(sent), nullptr, 0))
    ++sent;
  EXPECT_EQ(sent, small.credits);
  std::vector<std::uint32_t> slots;
  HostLink::Arrival arrival;
  while (links.links[1]->take(arrival))
    slots.push_back(arrival.slot);
  ASSERT_EQ(slots.size(), small.credits);
  EXPECT_FALSE(links.links[0]->take(arrival)) << "nothing has been given back";
  EXPECT_FALSE(links.links[0]->try_send(1, numbered(sent), nullptr, 0));
  for (const std::uint32_t slot : slots)
    links.links[1]->give_back(slot);
  links.links[1]->progress();
  EXPECT_FALSE(links.links[0]->take(arrival)) << "a note is for the link alone";
  EXPECT_TRUE(links.links[0]->try_send(1, numbered(sent), nullptr, 0));
  EXPECT_EQ(links.hosts.unexpected_count(), 0);
}

TEST(HostLinkTest, ASlotIsFreeAgainWhenItsDataHasLeft) {
  Links links(2);
  const std::vector<std::byte> payload(1000);
  for (std::uint32_t i = 0; i < small.send_slots; ++i)
    EXPECT_TRUE(links.links[0]->try_send(1, numbered(i), payload.data(), 1000));
  EXPECT_FALSE(links.links[0]->is_empty());
  EXPECT_FALSE(links.links[0]->try_send(1, numbered(3), payload.data(), 1000)) << "no slot";
  HostLink::Arrival arrival;
  ASSERT_TRUE(links.links[1]->take(arrival));
  EXPECT_TRUE(links.links[0]->try_send(1, numbered(3), payload.data(), 1000));
  while (links.links[1]->take(arrival)) {
  }
  links.links[0]->progress();
  EXPECT_TRUE(links.links[0]->is_empty());
}

TEST(HostLinkTest, ManyProcessesGetFewReceivesEach) {
  EXPECT_EQ(HostLimits::for_peers(1).credits, HostLimits{}.credits);
  EXPECT_EQ(HostLimits::for_peers(256).credits, 4U);
  EXPECT_EQ(HostLimits::for_peers(256).payload_bytes_max, HostLimits{}.payload_bytes_max);
  EXPECT_EQ(HostLimits::for_peers(257).payload_bytes_max, 4096U) << "what a transport must take";
  EXPECT_EQ(HostLimits::for_peers(1023).credits, 4U);
}

/// Random traffic of links: nothing lost, doubled, overtaken, or sent without a posted receive.
void exchange(std::uint32_t process_count, const HostLimits& limits) {
  Links links(process_count, limits);
  const std::uint64_t seed = core::test_seed();
  Prng random(seed);
  constexpr std::uint32_t packets_per_pair = 2000;
  const std::size_t pairs = std::size_t{process_count} * process_count;
  std::vector<std::uint32_t> sent(pairs);
  std::vector<std::uint32_t> taken(pairs);
  std::vector<std::deque<std::uint32_t>> kept(process_count);
  std::vector<std::byte> payload(limits.payload_bytes_max);
  std::size_t left = std::size_t{packets_per_pair} * process_count * (process_count - 1);
  while (left != 0) {
    const auto self = static_cast<std::uint32_t>(random.next() % process_count);
    HostLink& link = *links.links[self];
    switch (random.next() % 4) {
      case 0: {
        const auto to = static_cast<std::uint32_t>(random.next() % process_count);
        std::uint32_t& number = sent[self * process_count + to];
        if (to == self || number == packets_per_pair) break;
        const auto bytes = static_cast<std::uint32_t>(random.next() % payload.size());
        if (link.try_send(to, numbered(number), payload.data(), bytes)) ++number;
        break;
      }
      case 1: {
        HostLink::Arrival arrival;
        if (!link.take(arrival)) break;
        std::uint32_t& number = taken[arrival.process * process_count + self];
        ASSERT_EQ(arrival.header.words[0], number) << "seed " << seed;
        ++number;
        --left;
        kept[self].push_back(arrival.slot);
        break;
      }
      case 2:
        if (kept[self].empty()) break;
        link.give_back(kept[self].front());
        kept[self].pop_front();
        break;
      default:
        link.progress();
    }
  }
  EXPECT_EQ(links.hosts.unexpected_count(), 0) << "seed " << seed;
}

TEST(HostLinkTest, APacketIsGivenBackOnce) {
  if (SORREL_ASSERT_LEVEL == 0) GTEST_SKIP();
  Links links(2);
  HostLink& link = *links.links[1];
  HostLink::Arrival arrival;
  ASSERT_TRUE(links.links[0]->try_send(1, numbered(0), nullptr, 0));
  ASSERT_TRUE(link.take(arrival));
  link.give_back(arrival.slot);
  EXPECT_DEATH(link.give_back(arrival.slot), "is given back twice");
}

TEST(HostLinkTest, APeerGivesBackNoMoreCreditsThanItHas) {
  if (SORREL_ASSERT_LEVEL == 0) GTEST_SKIP();
  Links links(2);
  const HostJob peer = links.hosts.job(0);
  std::array<std::byte, host_header_bytes_max> packet;
  HostHeader header = numbered(0);
  header.credits = 1;
  const std::size_t bytes = write_header(header, packet.data());
  peer.api->send(peer.host, 0, packet.data(), static_cast<int>(bytes), 1);
  HostLink::Arrival arrival;
  EXPECT_DEATH((void)links.links[1]->take(arrival), "gives back more credits");
}

TEST(HostLinkTest, RandomTrafficKeepsOrderAndNeverFindsNoReceivePosted) {
  exchange(2, small);
  exchange(4, small);
}

TEST(HostLinkTest, ManyPeersShareReceivesForWhoeverComes) {
  HostLimits limits = small;
  limits.queue_count_max = 2;
  exchange(5, limits);
}

}  // namespace
}  // namespace sorrel::transport
