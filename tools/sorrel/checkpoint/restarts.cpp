#include "tools/sorrel/checkpoint/restarts.hpp"

#include <fmt/core.h>
#include <string>

#include "tools/sorrel/checkpoint/newest_checkpoint.hpp"
#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

bool Restarts::begin_next() {
  const auto end = [](const std::string& reason) {
    print_diagnostic("the job is not restarted: " + reason);
    return false;
  };
  if (count_ == count_max_)
    return end(fmt::format("it has been {} time{} (--restarts)", count_, count_ == 1 ? "" : "s"));
  const Result<std::uint64_t> newest = newest_checkpoint(*store_);
  if (!newest.has_value()) return end(newest.error());
  if (newest.value() == 0) return end("it has no checkpoint");
  if (newest.value() == generation_)
    return end(fmt::format("there is none after checkpoint {}, with which it began", generation_));
  generation_ = newest.value();
  ++count_;
  print_diagnostic(fmt::format("the job goes on from checkpoint {}: restart {} of at most {}",
                               generation_, count_, count_max_));
  return true;
}

}  // namespace sorrel::tool
