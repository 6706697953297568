//! FakeHosts - a host MPI inside a test: the calls of host_api.h between "processes" that are
//! threads of this one.
//!
//! Processes may be pretended to be on one node: then they share memory, as far as the test lets
//! them have it. Holds the transport to its promise: a message for which no receive is posted is
//! counted. Sends longer than `rendezvous_bytes` are complete only when they have been taken.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "os/memory_barrier.hpp"
#include "transport/host/host_transport.hpp"

namespace sorrel::transport {

class FakeHosts {
 public:
  explicit FakeHosts(std::uint32_t process_count, std::uint32_t processes_per_node = 1)
      : processes_per_node_(processes_per_node) {
    // Before several schedulers are made at a time.
    if (processes_per_node > 1 && os::has_barrier_of_processes())
      os::init_memory_barrier(os::BarrierScope::processes);
    else
      os::init_memory_barrier();
    for (std::uint32_t i = 0; i < process_count; ++i)
      hosts_.push_back(std::make_unique<Host>(Host{.all = this, .process = i}));
  }

  /// What process `process` gets at its start.
  [[nodiscard]] HostJob job(std::uint32_t process, bool any_thread = true) {
    const auto count = static_cast<std::uint32_t>(hosts_.size());
    std::vector<HostMember> members(count);
    for (std::uint32_t i = 0; i < count; ++i)
      members[i].node = static_cast<std::int32_t>(i - i % processes_per_node_);
    return {.api = &api(),
            .host = hosts_[process].get(),
            .process = process,
            .process_count = count,
            .any_thread = any_thread,
            .is_crowded = true,
            .members = members,
            .program_files = {}};
  }

  /// Options of a scheduler of process `process`, with the memory it shares with its node, if any.
  [[nodiscard]] core::SchedulerOptions options(std::uint32_t process, std::uint32_t worker_count) {
    const std::lock_guard lock(mutex_);
    core::SchedulerOptions options{
        .worker_count = worker_count, .limits = {.spin_ns_max = 0}, .cpus = {}};
    if (processes_per_node_ == 1) return options;
    auto& memory = memories_[process / processes_per_node_];
    const auto count = static_cast<std::uint32_t>(hosts_.size());
    const std::uint32_t first = process - process % processes_per_node_;
    const core::JobShape shape{.process_count = std::min(count - first, processes_per_node_),
                               .workers_per_process = worker_count,
                               .is_part = true};
    if (memory == nullptr) {
      memory = std::make_unique<core::JobMemory>(
          shape, os::SharedSegment::create(core::JobMemory::bytes_needed(shape)));
      memory->set_has_barrier(os::has_barrier_of_processes());
    }
    options.memory = memory.get();
    options.process = process - first;
    return options;
  }

  [[nodiscard]] int unexpected_count() const { return unexpected_count_; }

  /// From now on packets of kinds below this one are in flight and do not arrive, and others
  /// overtake them; 0: all do.
  void hold_kinds_below(unsigned kind) {
    const std::lock_guard lock(mutex_);
    held_below_ = kind;
  }

  /// How many of this kind and those above have arrived.
  [[nodiscard]] int count_of_kinds_from(unsigned kind) {
    const std::lock_guard lock(mutex_);
    int count = 0;
    for (const auto& [one, arrived] : arrived_counts_)
      count += one >= kind ? arrived : 0;
    return count;
  }

  static constexpr int rendezvous_bytes = 512;

 private:
  struct Message {
    std::vector<std::byte> data;
    int send_slot;
  };

  /// As the link's header has it.
  static unsigned kind_of(const Message& message) {
    return std::to_integer<unsigned>(message.data[0]) >> 2;
  }

  struct Posted {
    int slot;
    void* buffer;
    int source;
  };

  struct Long {
    int slot;
    void* buffer;
    std::size_t bytes;
  };

  /// What processes share in one call of all.
  struct Sharing {
    std::map<std::uint32_t, std::vector<std::byte>> parts;
  };

  struct Host {
    FakeHosts* all;
    std::uint32_t process;
    std::vector<std::deque<Posted>> queues{};
    /// By source.
    std::map<int, std::deque<Message>> arrived{};
    std::vector<int> is_sent{};
    /// The calls that this process has completed, and where the result of the next one goes.
    std::size_t share_count = 0;
    void* shared = nullptr;
    /// Long messages, by the other process, for which one end waits.
    std::map<int, std::deque<Long>> long_sends{};
    std::map<int, std::deque<Long>> long_receives{};
    std::vector<int> is_long_done{};
    bool has_ended = false;
  };

  static Host& host(void* self) { return *static_cast<Host*>(self); }

  static void reserve(void* self, int queue_count, int /*receive_count*/, int send_count) {
    host(self).queues.resize(static_cast<std::size_t>(queue_count));
    host(self).is_sent.assign(static_cast<std::size_t>(send_count), 1);
  }

  static void receive(void* self, int queue, int slot, void* buffer, int /*bytes*/, int source) {
    const std::lock_guard lock(host(self).all->mutex_);
    host(self).queues[static_cast<std::size_t>(queue)].push_back({slot, buffer, source});
  }

  static int take(void* self, sorrel_host_arrival* arrival) {
    Host& me = host(self);
    const std::lock_guard lock(me.all->mutex_);
    for (auto& queue : me.queues) {
      if (queue.empty()) continue;
      for (auto& [source, messages] : me.arrived) {
        const Posted& first = queue.front();
        if (messages.empty() || (first.source >= 0 && first.source != source)) continue;
        const auto next = std::ranges::find_if(
            messages, [&](const Message& one) { return kind_of(one) >= me.all->held_below_; });
        if (next == messages.end()) continue;
        ++me.all->arrived_counts_[kind_of(*next)];
        std::memcpy(first.buffer, next->data.data(), next->data.size());
        *arrival = {first.slot, source, static_cast<int>(next->data.size())};
        Host& sender = *me.all->hosts_[static_cast<std::size_t>(source)];
        sender.is_sent[static_cast<std::size_t>(next->send_slot)] = 1;
        messages.erase(next);
        queue.pop_front();
        return 1;
      }
    }
    return 0;
  }

  static int send(void* self, int slot, const void* buffer, int bytes, int to) {
    Host& me = host(self);
    const std::lock_guard lock(me.all->mutex_);
    Host& receiver = *me.all->hosts_[static_cast<std::size_t>(to)];
    const int source = static_cast<int>(me.process);
    const auto* data = static_cast<const std::byte*>(buffer);
    receiver.arrived[source].push_back({{data, data + bytes}, slot});
    std::size_t waiting = 0;
    for (const auto& [from, messages] : receiver.arrived)
      waiting += from == source || receiver.queues.size() == 1 ? messages.size() : 0;
    std::size_t posted = 0;
    for (const auto& queue : receiver.queues) {
      posted += static_cast<std::size_t>(
          std::count_if(queue.begin(), queue.end(),
                        [&](const Posted& one) { return one.source < 0 || one.source == source; }));
    }
    if (waiting > posted) ++me.all->unexpected_count_;
    const bool is_short = bytes <= rendezvous_bytes;
    me.is_sent[static_cast<std::size_t>(slot)] = is_short ? 1 : 0;
    return is_short ? 1 : 0;
  }

  static int is_sent(void* self, int slot) {
    const std::lock_guard lock(host(self).all->mutex_);
    return host(self).is_sent[static_cast<std::size_t>(slot)];
  }

  static void begin_share(void* self, const void* mine, void* all, int bytes) {
    Host& me = host(self);
    const std::lock_guard lock(me.all->mutex_);
    const auto* data = static_cast<const std::byte*>(mine);
    me.all->sharings_[me.share_count].parts[me.process] = {data, data + bytes};
    me.shared = all;
  }

  static int has_shared(void* self) {
    Host& me = host(self);
    const std::lock_guard lock(me.all->mutex_);
    const auto& parts = me.all->sharings_[me.share_count].parts;
    if (parts.size() != me.all->hosts_.size()) return 0;
    auto* to = static_cast<std::byte*>(me.shared);
    for (const auto& [process, part] : parts)
      to = std::copy(part.begin(), part.end(), to);
    ++me.share_count;
    return 1;
  }

  static void reserve_long(void* self, int slot_count) {
    host(self).is_long_done.assign(static_cast<std::size_t>(slot_count), 1);
  }

  static void send_long(void* self, int slot, const void* buffer, int bytes, int to) {
    Host& me = host(self);
    const std::lock_guard lock(me.all->mutex_);
    me.is_long_done[static_cast<std::size_t>(slot)] = 0;
    me.long_sends[to].push_back({slot, const_cast<void*>(buffer), static_cast<std::size_t>(bytes)});
    pass_long(me, *me.all->hosts_[static_cast<std::size_t>(to)]);
  }

  static void receive_long(void* self, int slot, void* buffer, int bytes, int from) {
    Host& me = host(self);
    const std::lock_guard lock(me.all->mutex_);
    me.is_long_done[static_cast<std::size_t>(slot)] = 0;
    me.long_receives[from].push_back({slot, buffer, static_cast<std::size_t>(bytes)});
    pass_long(*me.all->hosts_[static_cast<std::size_t>(from)], me);
  }

  static void pass_long(Host& sender, Host& receiver) {
    auto& sends = sender.long_sends[static_cast<int>(receiver.process)];
    auto& receives = receiver.long_receives[static_cast<int>(sender.process)];
    while (!sends.empty() && !receives.empty()) {
      SORREL_CHECK(sends.front().bytes == receives.front().bytes);
      std::memcpy(receives.front().buffer, sends.front().buffer, sends.front().bytes);
      sender.is_long_done[static_cast<std::size_t>(sends.front().slot)] = 1;
      receiver.is_long_done[static_cast<std::size_t>(receives.front().slot)] = 1;
      sends.pop_front();
      receives.pop_front();
    }
  }

  static int is_long_done(void* self, int slot) {
    const std::lock_guard lock(host(self).all->mutex_);
    return host(self).is_long_done[static_cast<std::size_t>(slot)];
  }

  static void begin_end(void* self) {
    const std::lock_guard lock(host(self).all->mutex_);
    host(self).has_ended = true;
  }

  static int has_ended(void* self) {
    const std::lock_guard lock(host(self).all->mutex_);
    const auto& hosts = host(self).all->hosts_;
    return std::all_of(hosts.begin(), hosts.end(), [](const auto& one) { return one->has_ended; });
  }

  static const sorrel_host_api& api() {
    static const sorrel_host_api functions{.version = SORREL_HOST_API_VERSION,
                                           .name = "fake",
                                           .begin = nullptr,
                                           .version_text = nullptr,
                                           .share = nullptr,
                                           .reserve = reserve,
                                           .receive = receive,
                                           .take = take,
                                           .send = send,
                                           .is_sent = is_sent,
                                           .begin_share = begin_share,
                                           .has_shared = has_shared,
                                           .reserve_long = reserve_long,
                                           .send_long = send_long,
                                           .receive_long = receive_long,
                                           .is_long_done = is_long_done,
                                           .begin_end = begin_end,
                                           .has_ended = has_ended,
                                           .finish = nullptr,
                                           .abort = nullptr};
    return functions;
  }

  const std::uint32_t processes_per_node_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<core::JobMemory>> memories_;
  std::vector<std::unique_ptr<Host>> hosts_;
  int unexpected_count_ = 0;
  unsigned held_below_ = 0;
  std::map<unsigned, int> arrived_counts_;
  std::map<std::size_t, Sharing> sharings_;
};

}  // namespace sorrel::transport
