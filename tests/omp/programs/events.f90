! Detached tasks: their events are fulfilled by value.
program events
  use omp_lib
  implicit none
  integer(kind=omp_event_handle_kind) :: event
  integer :: round, done, order
  order = 0
  do round = 1, 20
    done = 0
    !$omp parallel num_threads(3)
    !$omp single
    !$omp task detach(event) depend(out: done) shared(done)
    done = 1
    !$omp end task
    !$omp task depend(inout: done) shared(done)
    done = done + 10
    !$omp end task
    !$omp task firstprivate(event)
    call omp_fulfill_event(event)
    !$omp end task
    !$omp end single
    !$omp end parallel
    order = order + done
  end do
  print '(a,i0)', 'detached ', order
end program
