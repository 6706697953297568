! Buffers of which gfortran makes a copy that ends with the call: right in blocking calls, an error in
! calls that go on. Arrays with any lower bounds, and sections, are no copies.
program copies
  use mpi_f08
  implicit none
  type :: point
    integer :: id
    double precision :: x
    integer :: a, b, c
  end type
  type(point), target :: points(10)
  integer, target :: from_zero(0:9), matrix(4, 0:5)
  integer, allocatable :: made(:)
  integer, pointer :: view(:)
  double precision :: values(10)
  character(len=3) :: words(4)
  integer :: done = 0, failures = 0, me

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  allocate(made(0:9))
  view(-3:) => from_zero
  call blocking()
  call lasting()
  call refused()
  print '(a,i0,a,i0)', 'checks ', done, ', failures ', failures
  call MPI_Finalize()
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    done = done + 1
    if (right) return
    failures = failures + 1
    print *, 'wrong: ', what
  end subroutine

  subroutine blocking()
    integer :: i
    points%x = [(dble(i), i = 1, 10)]
    points%id = 7
    values = -points%x
    call MPI_Sendrecv_replace(points%x, 10, MPI_DOUBLE_PRECISION, me, 0, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(points%x == -values), 'the component is sent and received')
    call MPI_Sendrecv(values, 10, MPI_DOUBLE_PRECISION, me, 0, points%x, 10, MPI_DOUBLE_PRECISION, me, 0, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call check(all(points%x == values), 'the component is received')
    call check(all(points%id == 7), 'its neighbours are not')
  end subroutine

  ! Each of these receives into what it names.
  subroutine lasting()
    type(MPI_Request) :: request
    integer :: sent(24)
    sent = 5
    from_zero = 0
    made = 0
    matrix = 0
    call MPI_Irecv(from_zero, 10, MPI_INTEGER, me, 0, MPI_COMM_WORLD, request)
    call deliver(sent, 10, request)
    call check(all(from_zero == 5), 'an array from 0 on')
    call MPI_Irecv(made, 10, MPI_INTEGER, me, 0, MPI_COMM_WORLD, request)
    call deliver(sent, 10, request)
    call check(all(made == 5), 'an allocatable from 0 on')
    sent = 6
    call MPI_Irecv(view, 10, MPI_INTEGER, me, 0, MPI_COMM_WORLD, request)
    call deliver(sent, 10, request)
    call check(all(from_zero == 6), 'a pointer from -3 on')
    call MPI_Irecv(matrix(2:3, :), 12, MPI_INTEGER, me, 0, MPI_COMM_WORLD, request)
    call deliver(sent, 12, request)
    call check(all(matrix(2:3, :) == 6) .and. all(matrix(1:4:3, :) == 0), 'a section')
    call MPI_Irecv(points(3)%x, 1, MPI_DOUBLE_PRECISION, me, 0, MPI_COMM_WORLD, request)
    values = 2.5d0
    call MPI_Send(values, 1, MPI_DOUBLE_PRECISION, me, 0, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(points(3)%x == 2.5d0, 'the component of one element')
    sent = 8
    call assumed(from_zero, sent)
    call check(all(from_zero == 8), 'a dummy argument of assumed rank')
    call MPI_Irecv(points%x, 0, MPI_DOUBLE_PRECISION, me, 0, MPI_COMM_WORLD, request)
    call deliver(sent, 0, request)
    call check(.true., 'nothing is received')
  end subroutine

  subroutine assumed(array, sent)
    integer, target :: array(..)
    integer, intent(in) :: sent(:)
    type(MPI_Request) :: request
    call MPI_Irecv(array, 10, MPI_INTEGER, me, 0, MPI_COMM_WORLD, request)
    call deliver(sent, 10, request)
  end subroutine

  subroutine deliver(sent, count, request)
    integer, intent(in) :: sent(:), count
    type(MPI_Request), intent(inout) :: request
    call MPI_Send(sent, count, MPI_INTEGER, me, 0, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine

  subroutine check_refused(error, what)
    integer, intent(in) :: error
    character(len=*), intent(in) :: what
    call check(error == MPI_ERR_BUFFER, what)
  end subroutine

  subroutine refused()
    type(MPI_Request) :: request
    type(MPI_Win) :: window
    integer(MPI_ADDRESS_KIND) :: address
    integer :: error
    call MPI_Irecv(points%x, 10, MPI_DOUBLE_PRECISION, me, 0, MPI_COMM_WORLD, request, error)
    call check_refused(error, 'a component')
    call MPI_Isend(points(2:5)%x, 4, MPI_DOUBLE_PRECISION, me, 0, MPI_COMM_WORLD, request, error)
    call check_refused(error, 'a component of a section')
    call MPI_Recv_init(points(::2)%id, 5, MPI_INTEGER, me, 0, MPI_COMM_WORLD, request, error)
    call check_refused(error, 'a component in a persistent call')
    call MPI_Isend(words(:)(2:2), 4, MPI_CHARACTER, me, 0, MPI_COMM_WORLD, request, error)
    call check_refused(error, 'a substring')
    call MPI_Isend(from_zero + 1, 10, MPI_INTEGER, me, 0, MPI_COMM_WORLD, request, error)
    call check_refused(error, 'an expression')
    call MPI_Ibcast(points%id, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, request, error)
    call check_refused(error, 'a component in a collective')
    call MPI_Iallreduce(MPI_IN_PLACE, points%x, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, error)
    call check_refused(error, 'a component in a reduction')
    call MPI_Win_create(points%x, 80_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
    call check_refused(error, 'a window')
    call MPI_Get_address(points%x, address, error)
    call check_refused(error, 'an address')
  end subroutine
end program
