#include "program/rank/rank_symbol.hpp"

#include <cstdint>

#include "program/image/image_slab.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

namespace sorrel::program {

void* symbol_of_rank(void* symbol) {
  RankProcess* process = process_of_thread();
  return process == nullptr ? symbol : symbol_of_rank(symbol, process->libraries().index());
}

void* symbol_of_rank(void* symbol, int index) {
  for (const ImageSlab* slab : private_slabs()) {
    if (index < 0 || !slab->image().contains(reinterpret_cast<std::uintptr_t>(symbol))) continue;
    if (!slab->is_made(index)) return nullptr;
    return slab->copy(index).counterpart(static_cast<char*>(symbol));
  }
  return symbol;
}

}  // namespace sorrel::program
