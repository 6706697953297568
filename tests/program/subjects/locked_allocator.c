// An allocator to preload, which maps memory while it holds its lock, as others do.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/// Before each block.
struct header {
  size_t bytes;
};

static void* allocate(size_t alignment, size_t bytes) {
  enum { page = 4096 };

  if (alignment < 16) alignment = 16;
  pthread_mutex_lock(&lock);
  char* memory = mmap(NULL, bytes + alignment + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_mutex_unlock(&lock);
  if (memory == MAP_FAILED) return NULL;
  const uintptr_t begin = (uintptr_t)memory + sizeof(struct header);
  char* block = (char*)((begin + alignment - 1) / alignment * alignment);
  ((struct header*)block - 1)->bytes = bytes;
  return block;
}

void* malloc(size_t bytes) {
  return allocate(0, bytes);
}

void* calloc(size_t count, size_t bytes) {
  return allocate(0, count * bytes);
}

void free(void* block) {
  (void)block;
}

void* realloc(void* block, size_t bytes) {
  void* grown = allocate(0, bytes);
  if (block == NULL || grown == NULL) return grown;
  const size_t before = ((struct header*)block - 1)->bytes;
  return memcpy(grown, block, before < bytes ? before : bytes);
}

void* memalign(size_t alignment, size_t bytes) {
  return allocate(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return allocate(alignment, bytes);
}

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  *block = allocate(alignment, bytes);
  return *block == NULL ? 12 : 0;
}

size_t malloc_usable_size(void* block) {
  return block == NULL ? 0 : ((struct header*)block - 1)->bytes;
}
