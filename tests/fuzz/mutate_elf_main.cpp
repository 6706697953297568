// mutate_elf SEED COUNT FOLDER FILE...: writes COUNT damaged copies, FOLDER/SEED to
// FOLDER/(SEED+COUNT-1), each a function of its own number and of the files; prints a line for
// each.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "fuzz/mutate_elf.hpp"

using sorrel::Prng;
using sorrel::fuzz::Bytes;

namespace {

Bytes read_file(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool write_program(const std::string& path, const Bytes& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  return stream.flush().good() && chmod(path.c_str(), 0755) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("usage: mutate_elf SEED COUNT FOLDER FILE...\n", stderr);
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  std::vector<Bytes> files;
  for (int i = 4; i < argc; ++i)
    files.push_back(read_file(argv[i]));
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Prng random(seed);
    const std::size_t index = random.below(files.size());
    Bytes file = files[index];
    const std::string done = sorrel::fuzz::mutate_elf(file, random);
    const std::string path = std::string(argv[3]) + "/" + std::to_string(seed);
    if (!write_program(path, file)) {
      std::fprintf(stderr, "mutate_elf: cannot write %s\n", path.c_str());
      return 1;
    }
    std::printf("%llu %s: %s\n", static_cast<unsigned long long>(seed), argv[4 + index],
                done.c_str());
  }
}
