#include "launch/split_job.hpp"

#include <cstdlib>

#include "base/text.hpp"

namespace sorrel::launch {

namespace {

unsigned long number_in(const Environment& environment, const char* name) {
  const char* text = environment(name);
  return text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
}

Launched several(const Environment& environment,
                 const char* text,
                 const char* count_name,
                 const char* number_name) {
  const unsigned long count = number_in(environment, count_name);
  if (count < 2) return {};
  return {.text = text_of("%s %lu", text, count),
          .is_first = number_in(environment, number_name) == 0};
}

Launched tasks_of_step(const Environment& environment) {
  if (environment("SLURM_STEP_ID") == nullptr) return {};
  Launched launched =
      several(environment, "srun has started", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID");
  if (!launched.text.empty()) launched.text += " tasks";
  return launched;
}

}  // namespace

Launched launched_in(const Environment& environment) {
  if (environment("SORREL_RANK") != nullptr) return {};
  Launched launched = several(environment, "Open MPI's mpirun has started", "OMPI_COMM_WORLD_SIZE",
                              "OMPI_COMM_WORLD_RANK");
  if (launched.text.empty())
    launched = several(environment, "mpiexec has started", "PMI_SIZE", "PMI_RANK");
  if (launched.text.empty()) return tasks_of_step(environment);
  launched.text += " processes";
  return launched;
}

Launched tasks_without_pmi(const Environment& environment) {
  for (const char* name :
       {"SORREL_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD"}) {
    if (environment(name) != nullptr) return {};
  }
  return tasks_of_step(environment);
}

}  // namespace sorrel::launch
