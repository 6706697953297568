! Ranks that change their process: what Fortran keeps goes with them. SAVE and module variables, COMMON, allocatable and
! automatic arrays, pointers, internal files, output of several records, derived types, handles of mpi_f08.
module of_module
  use mpi_f08
  implicit none
  type node
    integer :: value = 0
    type(node), pointer :: next => null()
  end type
  type(node), pointer :: list => null()
  real(8), allocatable :: field(:, :)
  character(len=:), allocatable :: text
  type(MPI_Comm) :: neighbours
  integer :: failures = 0
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print *, 'wrong: ', what
  end subroutine

  function decimal(number) result(digits)
    integer, intent(in) :: number
    character(len=:), allocatable :: digits
    character(len=12) :: room
    write(room, '(i0)') number
    digits = trim(room)
  end function

  integer function counter()
    integer, save :: total = 0
    total = total + 1
    counter = total
  end function

  subroutine step(number, rank, size)
    integer, intent(in) :: number, rank, size
    ! On the stack, across the collective.
    real(8) :: automatic(10 + rank)
    integer :: left, right, received, total
    type(node), pointer :: added
    character(len=20) :: line
    automatic = rank + number
    left = modulo(rank - 1, size)
    right = modulo(rank + 1, size)
    allocate(added)
    added = node(number, list)
    list => added
    call MPI_Send(number + rank, 1, MPI_INTEGER, right, 5, neighbours)
    call MPI_Allreduce(number, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Recv(received, 1, MPI_INTEGER, left, 5, neighbours, MPI_STATUS_IGNORE)
    call check(received == number + left, 'a message')
    call check(total == number * size, 'a sum')
    call check(all(automatic == rank + number), 'an automatic array')
    call check(counter() == number, 'a saved variable')
    field = field + 1
    call check(field(rank + 1, 3) == number + rank, 'an allocatable array')
    if (mod(number, 10) == 0) text = text // achar(iachar('a') + mod(rank, 26))
    write(line, '(i6,a)') number, ' of a step'
    call check(adjustl(line) == trim(decimal(number)) // ' of a step', 'an internal file')
  end subroutine
end module

program moves
  use of_module
  implicit none
  integer :: rank, size, number, sum_of_list, a, count, steps
  type(node), pointer :: at
  common /shared/ a
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Comm_dup(MPI_COMM_WORLD, neighbours)
  a = 100 + rank
  steps = 200
  allocate(field(size, 5))
  field = rank
  text = ''
  do number = 1, steps
    call step(number, rank, size)
  end do
  sum_of_list = 0
  at => list
  do while (associated(at))
    sum_of_list = sum_of_list + at%value
    at => at%next
  end do
  call check(sum_of_list == steps * (steps + 1) / 2, 'a list')
  call check(a == 100 + rank, 'a common block')
  call check(len(text) == steps / 10, 'a text')
  call MPI_Allreduce(failures, count, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0)', 'failures ', count
  call MPI_Comm_free(neighbours)
  call MPI_Finalize()
end program
