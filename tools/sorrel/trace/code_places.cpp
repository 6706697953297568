#include "tools/sorrel/trace/code_places.hpp"

#include <iterator>

namespace sorrel::tool {

CodePlaces::CodePlaces(const std::vector<TracePart>& parts) {
  for (const TracePart& part : parts) {
    for (const TracedCode& code : part.code())
      code_[{part.process(), code.begin}] = code;
  }
}

const CodePlace* CodePlaces::of(std::uint32_t process, std::uint64_t address) {
  const auto after = code_.upper_bound({process, address});
  if (after == code_.begin()) return nullptr;
  const auto& [owner, code] = *std::prev(after);
  if (owner.first != process || address >= code.end) return nullptr;
  return &files_.of(std::string(code.path), address - code.begin + code.offset);
}

}  // namespace sorrel::tool
