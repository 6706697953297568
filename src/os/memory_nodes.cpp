#include "os/memory_nodes.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

#include "base/small_file.hpp"
#include "os/cpu_set.hpp"

namespace sorrel::os {

namespace {

/// A list of 65536 cpus, each with its own range, has half of it.
constexpr std::size_t file_bytes_max = 1u << 20;

std::string kernel_text(const std::string& path) {
  std::string text;
  return read_small_file(path, file_bytes_max, text).empty() ? text : "";
}

/// Takes a number from the begin of `text`; -1: there is none.
int take_number(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= cpu_count_max) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Takes the next character if it is `wanted`.
bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

/// The kernel's form of a list, "0-3,8"; empty if it is damaged.
std::vector<int> numbers_of_list(std::string_view text) {
  std::vector<int> numbers;
  do {
    const int first = take_number(text);
    if (first < 0) return {};
    const int last = take(text, '-') ? take_number(text) : first;
    for (int number = first; number <= last; ++number)
      numbers.push_back(number);
  } while (take(text, ','));
  return numbers;
}

std::vector<int> numbers_of_row(std::string_view text) {
  std::vector<int> numbers;
  for (;;) {
    while (take(text, ' ')) {
    }
    const int number = take_number(text);
    if (number < 0) return numbers;
    numbers.push_back(number);
  }
}

}  // namespace

MemoryNodes MemoryNodes::read(const std::string& folder) {
  MemoryNodes machine;
  const std::vector<int> numbers = numbers_of_list(kernel_text(folder + "/online"));
  if (numbers.size() < 2) return machine;
  for (const int number : numbers) {
    const std::string own = folder + "/node" + std::to_string(number);
    machine.nodes_.push_back({.number = number,
                              .cpus = numbers_of_list(kernel_text(own + "/cpulist")),
                              .distances = numbers_of_row(kernel_text(own + "/distance"))});
  }
  return machine;
}

const MemoryNodes::Node* MemoryNodes::find(int number) const {
  const auto found = std::ranges::find(nodes_, number, &Node::number);
  return found == nodes_.end() ? nullptr : &*found;
}

int MemoryNodes::node_of(int cpu) const {
  for (const Node& node : nodes_) {
    if (std::ranges::binary_search(node.cpus, cpu)) return node.number;
  }
  return -1;
}

int MemoryNodes::distance(int from, int to) const {
  const Node* begin = find(from);
  const Node* end = find(to);
  if (begin == nullptr || end == nullptr) return not_known;
  const auto index = static_cast<std::size_t>(end - nodes_.data());
  return index < begin->distances.size() ? begin->distances[index] : not_known;
}

}  // namespace sorrel::os
