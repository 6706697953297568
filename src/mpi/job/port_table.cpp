#include "mpi/job/port_table.hpp"

#include <charconv>

#include "base/text.hpp"
#include "mpi/base/internal_tag.hpp"

namespace sorrel::mpi {

namespace {

void add_waiting(std::vector<PortTable::Caller>& callers, const std::deque<PortTable::Caller>& at) {
  callers.insert(callers.end(), at.begin(), at.end());
}

std::string prefix_of(std::uint64_t job) {
  return text_of("sorrel:%llu:", static_cast<unsigned long long>(job));
}

}  // namespace

std::optional<std::uint32_t> PortTable::process_of(std::string_view name) const {
  const std::string prefix = prefix_of(job_);
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint32_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  const bool is_number = error == std::errc() && end != name.data() + name.size() && *end == ':';
  return is_number && process < process_count_ ? std::optional(process) : std::nullopt;
}

std::string PortTable::open(std::int32_t owner) {
  const std::scoped_lock lock(mutex_);
  std::string name = prefix_of(job_) +
                     text_of("%u:%llu", process_, static_cast<unsigned long long>(++opened_count_));
  ports_.emplace(name, Port{.owner = owner, .accepting = {}, .connecting = {}});
  return name;
}

std::optional<std::vector<PortTable::Caller>> PortTable::close(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto port = ports_.find(name);
  if (port == ports_.end()) return std::nullopt;
  std::vector<Caller> callers;
  add_waiting(callers, port->second.accepting);
  add_waiting(callers, port->second.connecting);
  ports_.erase(port);
  return callers;
}

std::vector<PortTable::Caller> PortTable::close_all_of(std::int32_t owner) {
  const std::scoped_lock lock(mutex_);
  std::vector<Caller> callers;
  std::erase_if(ports_, [&](const auto& entry) {
    const Port& port = entry.second;
    if (port.owner != owner) return false;
    add_waiting(callers, port.accepting);
    add_waiting(callers, port.connecting);
    return true;
  });
  return callers;
}

PortTable::Meeting PortTable::meet(const std::string& name, Side side, std::int32_t rank) {
  const std::scoped_lock lock(mutex_);
  const auto found = ports_.find(name);
  if (found == ports_.end()) return {.outcome = Outcome::no_port, .caller = {}};
  Port& port = found->second;
  std::deque<Caller>& others = side == Side::accept ? port.connecting : port.accepting;
  if (!others.empty()) {
    const Caller first = others.front();
    others.pop_front();
    return {.outcome = Outcome::meets, .caller = first};
  }
  const Caller own{.rank = rank, .ticket = next_ticket()};
  (side == Side::accept ? port.accepting : port.connecting).push_back(own);
  return {.outcome = Outcome::waits, .caller = own};
}

/// Under the lock. A number comes again long after the call that had it.
std::int32_t PortTable::next_ticket() {
  const auto step = static_cast<std::int32_t>(process_count_);
  ticket_ = ticket_ >= tag_max / step - 1 ? 0 : ticket_ + 1;
  return ticket_ * step + static_cast<std::int32_t>(process_);
}

std::int32_t PortTable::new_ticket() {
  const std::scoped_lock lock(mutex_);
  return next_ticket();
}

bool PortTable::publish(const std::string& service, const std::string& port) {
  const std::scoped_lock lock(mutex_);
  return services_.emplace(service, port).second;
}

bool PortTable::unpublish(const std::string& service) {
  const std::scoped_lock lock(mutex_);
  return services_.erase(service) != 0;
}

std::optional<std::string> PortTable::lookup(const std::string& service) const {
  const std::scoped_lock lock(mutex_);
  const auto found = services_.find(service);
  return found == services_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t PortTable::open_count() const {
  const std::scoped_lock lock(mutex_);
  return ports_.size();
}

}  // namespace sorrel::mpi
