//! MemoryGenerations - the checkpoints of a job in memory: in files without a name, which vanish
//! with the last process that has them open.
//!
//! `sorrel run` makes the files before it starts the job, and keeps them open. So they outlive any
//! process of the job, and nothing outlives `sorrel run`. There are two places, for even and odd
//! generations: begin() empties the place of the older one. The machine's memory is their limit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/generation_store.hpp"

namespace sorrel::checkpoint {

class MemoryGenerations final : public GenerationStore {
 public:
  /// The files of a job, as descriptors that programs inherit. They stay open. Returns an error, or
  /// "".
  [[nodiscard]] static std::string make_files(std::uint32_t process_count, std::vector<int>& files);

  /// In any process that has the descriptors of make_files() at the same numbers.
  explicit MemoryGenerations(std::vector<int> files);

  /// Programs that this process executes do not get them.
  void keep_from_children() const;

  [[nodiscard]] std::string begin(std::uint64_t generation) const override;
  [[nodiscard]] std::string path_to_write(std::uint64_t generation,
                                          std::uint32_t process) const override;

  [[nodiscard]] Place place() const override { return Place::memory; }

  [[nodiscard]] std::string room_error(std::uint64_t bytes) const override;
  [[nodiscard]] std::string commit(std::uint64_t generation,
                                   const std::vector<FileSeal>& files) const override;
  void discard(std::uint64_t generation) const override;
  [[nodiscard]] std::string set_aside(std::uint64_t generation) const override;
  [[nodiscard]] std::string path_of(std::uint64_t generation, std::uint32_t process) const override;

  [[nodiscard]] std::vector<std::uint64_t> numbers() const override;

 private:
  [[nodiscard]] std::string manifest_of(std::uint64_t generation) const override;

  /// The files of the place of a generation, that of the manifest last.
  [[nodiscard]] std::vector<int> place_of(std::uint64_t generation) const;
  [[nodiscard]] std::string clear(std::uint64_t generation) const;

  std::vector<int> files_;
};

}  // namespace sorrel::checkpoint
