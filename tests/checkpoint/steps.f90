! Steps of a relaxation on a ring of rows, as steps.c, in Fortran, with units of all kinds that stay open: what the program
! prints, and what its files contain at the end, is the same whatever happens to its ranks.
!
! usage: steps STEPS EVERY [DIE [REFUSED [RANK]]], as steps.c; STEPS_FOLDER in the environment: where the files are.
!   REFUSED: scratch, a unit without a name; or lines, which refuses nothing: the rank prints a line in each step.
!   With files, rank 2 saves the job, and may change its process, in the list of a write statement.
module of_rank
  use mpi_f08
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  implicit none
  interface
    integer(c_int) function sorrel_checkpoint() bind(c)
      import :: c_int
    end function
    integer(c_int) function own_process() bind(c, name='getpid')
      import :: c_int
    end function
    integer(c_int) function kill(process, number) bind(c)
      import :: c_int
      integer(c_int), value :: process, number
    end function
  end interface

  type node
    integer :: value = 0
    type(node), pointer :: next => null()
  end type

  integer, parameter :: row_length = 300
  type(node), pointer :: list => null()
  real(real64), allocatable :: row(:)
  character(len=:), allocatable :: folder, path
  character(len=40) :: held = ''
  integer :: rank, size, failures = 0, saved = 0, die = 0, outcome = 0
  integer :: lines, words, records, blocks, appended, input, history, scratch
  logical :: has_files = .false., is_restarted = .false.
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    failures = failures + 1
    write(error_unit, '(a,i0,2a)') 'rank ', rank, ': wrong: ', what
  end subroutine

  function decimal(number) result(digits)
    integer, intent(in) :: number
    character(len=:), allocatable :: digits
    character(len=12) :: room
    write(room, '(i0)') number
    digits = trim(room)
  end function

  function variable(name) result(text)
    character(len=*), intent(in) :: name
    character(len=:), allocatable :: text
    integer :: length
    call get_environment_variable(name, length=length)
    allocate(character(len=length) :: text)
    if (length > 0) call get_environment_variable(name, text)
  end function

  integer function argument(number, default)
    integer, intent(in) :: number, default
    character(len=20) :: text
    argument = default
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read(text, *) argument
  end function

  function file(name)
    character(len=*), intent(in) :: name
    character(len=:), allocatable :: file
    file = folder // '/' // name // '.' // decimal(rank)
  end function

  subroutine open_units(steps)
    integer, intent(in) :: steps
    integer :: i
    open(newunit=lines, file=file('lines'), status='replace', action='write')
    open(newunit=words, file=file('words'), status='replace', access='stream', form='unformatted', action='readwrite')
    open(newunit=records, file=file('records'), status='replace', access='direct', recl=8, form='unformatted')
    open(newunit=blocks, file=file('blocks'), status='replace', form='unformatted', action='readwrite')
    open(newunit=appended, file=file('appended'), status='replace', action='write')
    write(appended, '(a)') 'begin'
    close(appended)
    open(newunit=appended, file=file('appended'), status='old', position='append', action='write')
    open(newunit=input, file=file('input'), status='replace', action='write')
    write(input, '(i4,a)') (i, ' of the input', i = 1, steps)
    close(input)
    open(newunit=input, file=file('input'), status='old', action='read')
    if (rank == 0) open(newunit=history, file=file('history'), status='replace', action='write')
    call oldopn(file('old'))
  end subroutine

  ! Before the pause: records that are begun, and not complete.
  subroutine begin_step(number)
    integer, intent(in) :: number
    integer :: found
    read(input, '(i4)', advance='no', eor=10) found
10  call check(found == number, 'the input')
    write(lines, '(a,i0,a)', advance='no') 'step ', number, ' of rank '
    write(words) number, real(number, real64) / 3
    write(records, rec=number) real(number, real64)
    write(blocks) number, [(number, found = 1, 5)]
    write(appended, '(i0)') number
  end subroutine

  subroutine end_step(number)
    integer, intent(in) :: number
    character(len=20) :: rest
    integer :: found, at, first, unit_of_file
    logical :: is_open
    real(real64) :: value
    read(input, '(a)') rest
    call check(rest == ' of the input', 'the rest of a record')
    write(lines, '(i0)') rank
    if (mod(number, 7) == 0) then
      inquire(words, pos=at)
      read(words, pos=1) first
      call check(first == 1, 'a stream')
      read(words, pos=at - 12) found
      call check(found == number, 'the end of a stream')
      read(words, pos=at)
      backspace(blocks)
      read(blocks) found
      call check(found == number, 'an unformatted record')
    end if
    if (number > 3) then
      read(records, rec=number - 3) value
      call check(value == number - 3, 'a direct record')
    end if
    inquire(file=file('lines'), opened=is_open, number=unit_of_file)
    call check(is_open .and. unit_of_file == lines, 'the unit of a file')
    if (mod(number, 13) == 0) flush(lines)
  end subroutine

  ! 0, so that it can be part of a file.
  integer function saved_job()
    outcome = sorrel_checkpoint()
    call MPI_Barrier(MPI_COMM_WORLD)
    saved_job = 0
  end function

  subroutine save_job()
    integer :: zero
    if (has_files .and. rank == 2) then
      write(lines, '(a,i0,a)', advance='no') 'saved ', saved_job(), ' '
    else
      zero = saved_job()
    end if
    if (outcome == 1) is_restarted = .true.
    if (outcome == 0) saved = saved + 1
    if (outcome == 1 .and. rank == 0) print '(a)', 'restarted'
    if (outcome < 0 .and. rank == 0) print '(a)', 'refused'
    if (.not. is_restarted .and. die /= 0 .and. saved == die .and. rank == 1) zero = kill(own_process(), 9_c_int)
  end subroutine

  subroutine step(number, every)
    integer, intent(in) :: number, every
    ! On the stack, across the pause.
    real(real64) :: automatic(50 + rank), noise(row_length), next, change, late, received, residual
    type(MPI_Request) :: requests(4)
    type(node), pointer :: added
    integer :: i, left, right
    left = modulo(rank - 1, size)
    right = modulo(rank + 1, size)
    automatic = rank + number
    allocate(added)
    added = node(number, list)
    list => added
    call MPI_Irecv(row(0:0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(row(row_length + 1:row_length + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(row(row_length:row_length), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(row(1:1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call random_number(noise)
    change = 0
    do i = 1, row_length
      next = (row(i - 1) + row(i) + row(i + 1)) / 3 + 1d-9 * noise(i)
      change = change + (next - row(i)) ** 2
      row(i) = next
    end do
    late = change / 3
    call MPI_Send(late, 1, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD)
    if (has_files) call begin_step(number)
    if (mod(number, every) == 0) call save_job()
    call MPI_Barrier(MPI_COMM_WORLD)
    if (has_files) call end_step(number)
    call MPI_Recv(received, 1, MPI_DOUBLE_PRECISION, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    row(row_length / 2) = row(row_length / 2) + received * 1d-3
    call check(all(automatic == rank + number), 'an automatic array')
    call MPI_Allreduce(change, residual, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) then
      print '(i0,1x,z16.16)', number, transfer(residual, 0_int64)
      flush(output_unit)
      if (has_files) write(history, '(i0,1x,z16.16)') number, transfer(residual, 0_int64)
    end if
    if (has_files) call oldstp(number, failures)
  end subroutine
end module

program steps
  use of_rank
  implicit none
  integer :: number, step_count, every, seed_size, i, sum_of_list, all_failures
  integer(int64) :: clock, clock_before
  type(node), pointer :: at
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  step_count = argument(1, 0)
  every = argument(2, 1)
  die = argument(3, 0)
  folder = variable('STEPS_FOLDER')
  path = variable('PATH')
  if (command_argument_count() >= 4 .and. rank == argument(5, size - 1)) call get_command_argument(4, held)
  has_files = len(folder) > 0
  if (has_files) call open_units(step_count)
  if (held == 'scratch') open(newunit=scratch, status='scratch')
  call random_seed(size=seed_size)
  call random_seed(put=[(i * 7919 + rank, i = 1, seed_size)])
  allocate(row(0:row_length + 1))
  call random_number(row)
  call system_clock(clock_before)
  do number = 1, step_count
    call step(number, every)
    call system_clock(clock)
    call check(clock >= clock_before, 'the clock')
    clock_before = clock
    if (held == 'lines') write(output_unit, '(a,i0)') 'line ', number
  end do
  sum_of_list = 0
  at => list
  do while (associated(at))
    sum_of_list = sum_of_list + at%value
    at => at%next
  end do
  call check(sum_of_list == step_count * (step_count + 1) / 2, 'a list')
  call check(argument(1, 0) == step_count .and. variable('PATH') == path, 'arguments and environment')
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (all_failures /= 0) stop 1
end program
