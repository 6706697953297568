// The files of control groups. A case begins with '@' and has three texts separated by '@':
// /proc/self/cgroup, mountinfo, and the contents of every limit file.
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"
#include "os/cgroup.hpp"

using sorrel::fuzz::require;

extern "C" const char* const sorrel_fuzz_tokens[];
const char* const sorrel_fuzz_tokens[] = {"-",
                                          ",",
                                          "0-65535,",
                                          "65536",
                                          "@",
                                          "max",
                                          "0::/",
                                          "1:cpu,cpuacct:/",
                                          " - cgroup2 a b\n",
                                          "/..",
                                          "/job",
                                          "\n",
                                          " ",
                                          "100000",
                                          "nan",
                                          "inf 1",
                                          "-1",
                                          "1e-300 1",
                                          nullptr};

namespace {

namespace files = std::filesystem;

/// A folder with the layout of a machine's root, for the lifetime of this process.
class Root {
 public:
  Root() {
    std::string name = (files::temp_directory_path() / "sorrel_fuzz_XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "a folder can be made");
    path_ = name;
    files::create_directories(path_ / "proc/self");
    for (const char* group : {"", "job", "job/part"}) {
      const files::path folder = path_ / "sys/fs/cgroup" / group;
      files::create_directories(folder);
      for (const char* file : {"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"})
        files::create_symlink(path_ / "limit", folder / file);
    }
  }

  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  ~Root() {
    std::error_code error;
    files::remove_all(path_, error);
  }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name) << text;
  }

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  files::path path_;
};

std::string_view take_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('@'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

void read_cgroups(std::string_view text) {
  static const Root root;
  root.write("proc/self/cgroup", take_part(text));
  root.write("proc/self/mountinfo", take_part(text));
  root.write("limit", text);
  const auto quota = sorrel::os::cpu_quota(root.path());
  if (!quota) return;
  require(quota->cpus > 0, "a quota is more than nothing");
  const int cpus = sorrel::os::whole_cpus(*quota);
  require(cpus >= 1 && cpus <= 1'000'000, "a quota is 1 to 1000000 processors");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = sorrel::fuzz::text_of(data, size);
  if (text.starts_with('@')) text.remove_prefix(1);
  read_cgroups(text);
  return 0;
}
