//! Generations - the checkpoints of a job in a folder.
//!
//! A generation is a folder `ckpt.N`. README.md has the protocol.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/generation_store.hpp"
#include "checkpoint/user_key.hpp"

namespace sorrel::checkpoint {

/// The file in the folder that says how the job was started (tools/sorrel/checkpoint/job_file).
inline constexpr const char* job_name = "JOB";

/// The file in the folder that the processes of the job hold (os/lock_file.hpp).
inline constexpr const char* lock_name = "LOCK";

/// This version of Sorrel and this machine, in one line.
[[nodiscard]] std::string text_of_writer();

class Generations final : public GenerationStore {
 public:
  /// A folder that exists. Without a key, what is committed has no code, and nothing is of the
  /// user.
  explicit Generations(std::string folder, const UserKey& key = {})
      : folder_(std::move(folder)), key_(key) {}

  /// Why a job of this user must not write to the folder: it is not this user's, or others may
  /// write to it. An error for users, or "".
  [[nodiscard]] std::string folder_refusal() const;

  /// Why no job may begin with a checkpoint in the folder: one of its folders and files is not
  /// this user's, or others may write to it. An error for users, or "".
  [[nodiscard]] std::string contents_refusal() const;

  [[nodiscard]] std::string begin(std::uint64_t generation) const override;
  [[nodiscard]] std::string path_to_write(std::uint64_t generation,
                                          std::uint32_t process) const override;

  [[nodiscard]] Place place() const override { return Place::folder; }

  [[nodiscard]] const UserKey* key() const override { return &key_; }

  /// A full device is an error of a write.
  [[nodiscard]] std::string room_error(std::uint64_t /*bytes*/) const override { return ""; }

  [[nodiscard]] std::string commit(std::uint64_t generation,
                                   const std::vector<FileSeal>& files) const override;
  void discard(std::uint64_t generation) const override;

  /// Renames it.
  [[nodiscard]] std::string set_aside(std::uint64_t generation) const override;
  [[nodiscard]] std::string path_of(std::uint64_t generation, std::uint32_t process) const override;

  [[nodiscard]] std::vector<std::uint64_t> numbers() const override;

  /// Whether a job of the user of this key has written a generation that is whole. Reads every
  /// byte.
  [[nodiscard]] bool is_of_user(std::uint64_t generation) const;

 private:
  [[nodiscard]] std::string code_of(Manifest manifest) const;
  [[nodiscard]] std::string manifest_of(std::uint64_t generation) const override;
  [[nodiscard]] std::string folder_of(std::uint64_t generation) const;

  std::string folder_;
  UserKey key_;
};

}  // namespace sorrel::checkpoint
