// What a program can ask and set, printed for a comparison with the compiler's library.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

static int count_teams(int requested) {
  int count = 0;
  if (requested == 0) {
#pragma omp teams reduction(+ : count)
    count++;
  } else {
#pragma omp teams num_teams(requested) reduction(+ : count)
    count += omp_get_num_teams() == requested;
  }
  return count;
}

static void print_teams(void) {
  printf("teams: setting %d, limit %d, made %d, requested %d\n", omp_get_max_teams(),
         omp_get_teams_thread_limit(), count_teams(0), count_teams(2));
  omp_set_num_teams(5);
  omp_set_teams_thread_limit(3);
  printf("after settings: %d %d, made %d\n", omp_get_max_teams(), omp_get_teams_thread_limit(),
         count_teams(0));
  int limits = 0;
  int largest = 0;
  int numbers = 0;
#pragma omp teams num_teams(4) reduction(+ : limits, numbers) reduction(max : largest)
  {
    numbers += omp_get_team_num();
    int threads = 0;
#pragma omp parallel num_threads(8) reduction(+ : threads) reduction(max : limits)
    {
      threads++;
      limits = omp_get_thread_limit();
    }
    if (threads > largest) largest = threads;
  }
  printf("in teams: limits %d, numbers %d, at most %d threads\n", limits, numbers, largest);
  printf("outside: %d %d %d\n", omp_get_num_teams(), omp_get_team_num(),
         omp_get_thread_limit() > 1000);
}

static void print_sections(void) {
  int size = 0;
  omp_set_num_threads(4);
#pragma omp parallel sections
  {
#pragma omp section
    size = omp_get_num_threads();
#pragma omp section
    ;
  }
  printf("sections of a team of %d\n", size);
}

static int is_null(omp_allocator_handle_t allocator) {
  return allocator == omp_null_allocator;
}

static void print_allocators(void) {
  printf("default allocator %d\n", (int)omp_get_default_allocator());
  omp_set_default_allocator(omp_cgroup_mem_alloc);
  printf("set to %d\n", (int)omp_get_default_allocator());
#pragma omp parallel num_threads(2)
#pragma omp single
  printf("in a region %d\n", (int)omp_get_default_allocator());
  omp_set_default_allocator(omp_default_mem_alloc);

  omp_alloctrait_t null_pool[] = {{omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, null_pool);
  void* large = omp_alloc(10000, pool);
  char* first = omp_alloc(2000, pool);
  printf("pool: too large %d, first %d, second %d\n", large != NULL, first != NULL,
         omp_alloc(3000, pool) != NULL);
  first[1999] = 7;
  first = omp_realloc(first, 3000, pool, pool);
  printf("grown in its pool %d %d\n", first != NULL, first != NULL && first[1999] == 7);
  omp_free(first, pool);
  void* again = omp_calloc(100, 30, pool);
  printf("freed memory is available %d\n", again != NULL && ((char*)again)[2999] == 0);
  omp_free(again, omp_null_allocator);

  omp_alloctrait_t other_pool[] = {{omp_atk_pool_size, 1024},
                                   {omp_atk_fallback, omp_atv_allocator_fb},
                                   {omp_atk_fb_data, (omp_uintptr_t)pool},
                                   {omp_atk_alignment, 256}};
  omp_allocator_handle_t other = omp_init_allocator(omp_default_mem_space, 4, other_pool);
  void* fallback = omp_alloc(2000, other);
  void* small = omp_alloc(16, other);
  printf("fallback: %d, its end %d, aligned %d\n", fallback != NULL, omp_alloc(5000, other) != NULL,
         (int)((uintptr_t)small % 256));
  omp_free(small, other);
  omp_free(fallback, other);
  omp_destroy_allocator(other);

  omp_alloctrait_t default_pool[] = {{omp_atk_pool_size, 1024}};
  omp_allocator_handle_t third = omp_init_allocator(omp_default_mem_space, 1, default_pool);
  void* default_memory = omp_aligned_alloc(512, 4000, third);
  printf("default memory %d, aligned %d\n", default_memory != NULL,
         (int)((uintptr_t)default_memory % 512));
  omp_free(default_memory, third);
  omp_destroy_allocator(third);
  omp_destroy_allocator(pool);

  omp_alloctrait_t wrong[] = {{omp_atk_alignment, 3},
                              {omp_atk_fallback, omp_atv_all},
                              {omp_atk_access, omp_atv_contended},
                              {omp_atk_sync_hint, omp_atv_nearest},
                              {omp_atk_partition, omp_atv_true},
                              {omp_atk_pinned, omp_atv_true}};
  for (int i = 0; i < 6; i++)
    printf("wrong trait %d: %d\n", i,
           is_null(omp_init_allocator(omp_default_mem_space, 1, wrong + i)));
  omp_alloctrait_t right[] = {{omp_atk_access, omp_atv_cgroup},
                              {omp_atk_sync_hint, omp_atv_private},
                              {omp_atk_partition, omp_atv_interleaved},
                              {omp_atk_pinned, omp_atv_false},
                              {omp_atk_pool_size, omp_atv_default}};
  omp_allocator_handle_t hinted = omp_init_allocator(omp_large_cap_mem_space, 5, right);
  printf("hints %d, nothing for 0 bytes %d\n", !is_null(hinted), omp_alloc(0, hinted) == NULL);
  omp_destroy_allocator(hinted);
}

static void print_devices(void) {
  int x = 3;
  printf("devices %d, initial %d %d, own %d, present %d\n", omp_get_num_devices(),
         omp_get_initial_device(), omp_is_initial_device(), omp_get_device_num(),
         omp_target_is_present(&x, omp_get_initial_device()));
  int* memory = omp_target_alloc(sizeof x, omp_get_initial_device());
  int status = omp_target_memcpy(memory, &x, sizeof x, 0, 0, omp_get_initial_device(),
                                 omp_get_initial_device());
  printf("copied %d %d\n", status, *memory);
  omp_target_free(memory, omp_get_initial_device());
  const size_t volume[] = {2, 2};
  const size_t to_offsets[] = {1, 1};
  const size_t from_offsets[] = {0, 1};
  const size_t to_extents[] = {3, 4};
  const size_t from_extents[] = {2, 3};
  int from[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int to[3][4] = {{0}};
  status = omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, to_offsets, from_offsets,
                                  to_extents, from_extents, 0, 0);
  printf("box %d: %d %d %d %d, outside %d\n", status, to[1][1], to[1][2], to[2][1], to[2][2],
         to[0][0] + to[0][1] + to[1][0] + to[1][3] + to[2][3]);
  printf("dimensions %d\n",
         omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0) > 2);
  printf("associated %d %d\n", omp_target_associate_ptr(&x, &x, sizeof x, 0, 0) != 0,
         omp_target_disassociate_ptr(&x, 0) != 0);
}

int main(void) {
  print_teams();
  print_sections();
  print_allocators();
  print_devices();
  printf("paused %d %d\n", omp_pause_resource(omp_pause_soft, omp_get_initial_device()),
         omp_pause_resource_all(omp_pause_hard));
  int pauses_inside = 0;
#pragma omp parallel num_threads(3) reduction(+ : pauses_inside)
  pauses_inside += omp_pause_resource_all(omp_pause_soft);
  printf("in a region %d\n", pauses_inside);
  return 0;
}
