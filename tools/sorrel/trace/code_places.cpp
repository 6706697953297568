#include "tools/sorrel/trace/code_places.hpp"

#include <iterator>
#include <string_view>

#include "trace/job_trace.hpp"

namespace sorrel::tool {

CodePlaces::CodePlaces(const std::vector<TracePart>& parts) : parts_(parts) {
  for (const TracePart& part : parts) {
    for (const TracedCode& code : part.code())
      code_[{part.process(), code.begin}] = code;
  }
}

const CodePlace* CodePlaces::of(std::uint32_t process, std::uint64_t address) {
  if (trace::is_hash(address)) return in_script(process, address);
  const auto after = code_.upper_bound({process, address});
  if (after == code_.begin()) return nullptr;
  const auto& [owner, code] = *std::prev(after);
  if (owner.first != process || address >= code.end) return nullptr;
  return &files_.of(std::string(code.path), address - code.begin + code.offset);
}

const CodePlace* CodePlaces::in_script(std::uint32_t process, std::uint64_t hash) {
  const auto known = script_places_.find(hash);
  if (known != script_places_.end()) return &known->second;
  for (const TracePart& part : parts_) {
    const std::string_view text =
        part.process() == process ? part.text_of(hash) : std::string_view();
    if (!text.empty()) return &script_places_.emplace(hash, code_place_of(text)).first->second;
  }
  return nullptr;
}

}  // namespace sorrel::tool
