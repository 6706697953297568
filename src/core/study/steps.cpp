#include "core/study/steps.hpp"

#include <cstdio>
#include <cstdlib>

namespace sorrel::core::study {

namespace {

Steps read_steps() {
  const char* text = std::getenv("SORREL_STUDY_STEPS");
  if (text == nullptr) return {};
  if (const auto found = parse_steps(text)) return *found;
  std::fprintf(stderr,
               "sorrel: SORREL_STUDY_STEPS must be a list of queue=own|shared|relaxed|locked, "
               "heap=pool|system|locked, counters=apart|packed, each at most once, not '%s'\n",
               text);
  std::_Exit(1);
}

}  // namespace

const Steps steps = read_steps();

}  // namespace sorrel::core::study
