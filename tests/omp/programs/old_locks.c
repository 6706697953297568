// Locks as programs of GCC before 4.4 use them, by the first version of their symbols: a lock is an
// int, and a nest lock is two.
typedef struct {
  int words[2];
} OldNestLock;

void init_lock(int*);
void set_lock(int*);
void unset_lock(int*);
int test_lock(int*);
void destroy_lock(int*);
void init_nest_lock(OldNestLock*);
int test_nest_lock(OldNestLock*);
void set_nest_lock(OldNestLock*);
void unset_nest_lock(OldNestLock*);
void destroy_nest_lock(OldNestLock*);
__asm__(".symver init_lock,omp_init_lock@OMP_1.0");
__asm__(".symver set_lock,omp_set_lock@OMP_1.0");
__asm__(".symver unset_lock,omp_unset_lock@OMP_1.0");
__asm__(".symver test_lock,omp_test_lock@OMP_1.0");
__asm__(".symver destroy_lock,omp_destroy_lock@OMP_1.0");
__asm__(".symver init_nest_lock,omp_init_nest_lock@OMP_1.0");
__asm__(".symver set_nest_lock,omp_set_nest_lock@OMP_1.0");
__asm__(".symver unset_nest_lock,omp_unset_nest_lock@OMP_1.0");
__asm__(".symver test_nest_lock,omp_test_nest_lock@OMP_1.0");
__asm__(".symver destroy_nest_lock,omp_destroy_nest_lock@OMP_1.0");

int printf(const char*, ...);

int main(void) {
  // A guard behind each shows that no more than its own words are written.
  int lock[2] = {-1, 77};

  struct {
    OldNestLock lock;
    int guard;
  } nest = {{{-1, -1}}, 88};

  int count = 0;
  int nested = 0;
  init_lock(lock);
  init_nest_lock(&nest.lock);
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 1000; i++) {
    set_lock(lock);
    count++;
    unset_lock(lock);
    set_nest_lock(&nest.lock);
    if (test_nest_lock(&nest.lock) == 2) nested++;
    unset_nest_lock(&nest.lock);
    unset_nest_lock(&nest.lock);
  }
  printf("%d %d, free %d, guards %d %d\n", count, nested, test_lock(lock), lock[1], nest.guard);
  unset_lock(lock);
  destroy_lock(lock);
  destroy_nest_lock(&nest.lock);
  return 0;
}
