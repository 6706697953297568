// Executables: the parts that `sorrel info` and `sorrel run` read before anything is started.
#include <cstring>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <variant>

#include "fuzz/harness.hpp"
#include "fuzz/mutate_elf.hpp"
#include "os/elf_file.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/run/openmp.hpp"

using sorrel::fuzz::require;
using sorrel::os::ElfFile;

namespace {

/// A file in memory, which has a path while it lives.
class FileInMemory {
 public:
  FileInMemory(const std::uint8_t* data, std::size_t size)
      : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0 && write(descriptor_, data, size) == static_cast<ssize_t>(size),
            "a file in memory can be made");
  }

  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;

  ~FileInMemory() { close(descriptor_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Reads every letter, so that a view beyond the mapping crashes here.
void read_all(std::string_view text, std::size_t file_bytes) {
  require(text.size() <= file_bytes, "a text is no longer than its file");
  (void)std::hash<std::string_view>{}(text);
}

void read_everything(const ElfFile& elf, std::size_t file_bytes) {
  read_all(elf.interpreter, file_bytes);
  read_all(elf.soname, file_bytes);
  read_all(elf.rpath, file_bytes);
  read_all(elf.runpath, file_bytes);
  for (const std::string_view name : elf.needed)
    read_all(name, file_bytes);
  elf.for_each_symbol(
      [&](const sorrel::os::ElfSymbol& symbol) { read_all(symbol.name, file_bytes); });
  (void)elf.contains("GOMP_OFFLOAD_get_num_devices");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FileInMemory file(data, size);
  const auto opened = ElfFile::open(file.path());
  if (const auto* elf = std::get_if<ElfFile>(&opened)) read_everything(*elf, size);
  static const sorrel::tool::Installation installation =
      sorrel::tool::find_installation(SORREL_COMMAND);
  const auto report = sorrel::tool::inspect_program(file.path(), installation);
  require(!report.path.empty(), "an existing program is found");
  (void)sorrel::tool::inspect_openmp(file.path(), installation);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                               std::size_t size,
                                               std::size_t size_max,
                                               unsigned seed) {
  sorrel::Prng random(seed);
  sorrel::fuzz::Bytes file(data, data + size);
  sorrel::fuzz::mutate_elf(file, random);
  const std::size_t kept = std::min(file.size(), size_max);
  std::memcpy(data, file.data(), kept);
  return kept;
}
