#include "mpi/saved/saved_info.hpp"

namespace sorrel::mpi {

void save_info(const Info& info, ByteWriter& to) {
  to.add(info.size());
  for (int i = 0; i < info.size(); ++i) {
    to.add_block(info.key(i));
    to.add_block(*info.find(info.key(i)));
  }
}

void restore_info(Info& info, ByteCursor& from) {
  ErrorDetail detail;
  for (auto left = from.take<int>(); left > 0 && from.is_good(); --left) {
    const std::string key(from.take_block());
    const std::string value(from.take_block());
    (void)info.set(key.c_str(), value.c_str(), detail);
  }
}

}  // namespace sorrel::mpi
