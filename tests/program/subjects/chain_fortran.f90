! The Fortran library of the chain: COMMON, SAVE, a module's variable, a unit.
module chain_module
  integer :: of_module = 5
end module

subroutine chain_fortran(rank, sum) bind(c)
  use iso_c_binding
  use chain_module
  integer(c_int), value :: rank
  integer(c_int) :: sum
  integer, save :: calls = 0
  integer :: shared
  common /chain_block/ shared
  character(len=40) :: line
  calls = calls + 1
  shared = shared + 10 * calls
  of_module = of_module + rank
  write(line, '(i0)') of_module
  read(line, *) sum
  sum = sum + shared + calls
end subroutine

block data
  common /chain_block/ shared
  integer :: shared = 1000
end block data
