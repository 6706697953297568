//! percents_of - the shares of parts in their sum, rounded so that they add up to 100.
#pragma once

#include <cstdint>
#include <vector>

namespace sorrel::tool {

/// In units of 1/`scale` percent; they add up to exactly 100 * `scale` (largest remainders), or are
/// all 0 if the parts are. `parts` are not negative.
[[nodiscard]] std::vector<std::int64_t> percents_of(const std::vector<std::int64_t>& parts,
                                                    std::int64_t scale = 1);

}  // namespace sorrel::tool
