! Fortran's names and constructs.
program constructs
  use omp_lib
  implicit none
  integer :: i, total, hits(100), seen, chunk
  integer(kind=omp_sched_kind) :: kind
  integer(kind=omp_lock_kind) :: lock
  integer(kind=omp_nest_lock_kind) :: nest
  integer, save :: own = 0
  !$omp threadprivate(own)
  call omp_set_num_threads(4)
  call omp_set_dynamic(.false.)
  total = 0
  hits = 0
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  !$omp parallel reduction(+:total)
  own = omp_get_thread_num()
  total = total + own
  !$omp do schedule(dynamic, 3)
  do i = 1, 100
    hits(i) = hits(i) + 1
  end do
  !$omp end do
  !$omp end parallel
  print '(a,i0,a,i0)', 'total ', total, ' hits ', sum(hits)
  seen = 0
  !$omp parallel
  call omp_set_lock(lock)
  seen = seen + own
  call omp_unset_lock(lock)
  call omp_set_nest_lock(nest)
  call omp_set_nest_lock(nest)
  seen = seen + 1
  call omp_unset_nest_lock(nest)
  call omp_unset_nest_lock(nest)
  !$omp barrier
  !$omp workshare
  hits = hits + 1
  !$omp end workshare
  !$omp end parallel
  print '(a,i0,a,i0)', 'threadprivate ', seen, ' workshare ', sum(hits)
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest)
  call omp_set_schedule(omp_sched_static, 5)
  call omp_get_schedule(kind, chunk)
  print '(a,i0,a,i0)', 'schedule ', kind, ' ', chunk
  total = 0
  !$omp parallel
  !$omp single
  do i = 1, 20
    !$omp task firstprivate(i) shared(total) depend(inout: total)
    total = mod(total * 3 + i, 10007)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  print '(a,i0)', 'tasks ', total
  total = 0
  !$omp parallel do ordered schedule(dynamic)
  do i = 1, 50
    !$omp ordered
    total = mod(total * 7 + i, 10007)
    !$omp end ordered
  end do
  !$omp end parallel do
  print '(a,i0,a,l1)', 'ordered ', total, ' in parallel ', omp_in_parallel()
end program
