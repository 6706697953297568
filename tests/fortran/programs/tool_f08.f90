! A profiling tool in Fortran, for programs with mpi_f08: the specific names of the standard, without BIND(C).
subroutine MPI_Send_f08ts(buf, count, datatype, dest, tag, comm, ierror)
  use mpi_f08, only: MPI_Datatype, MPI_Comm, PMPI_Send
  implicit none
  type(*), dimension(..), intent(in) :: buf
  integer, intent(in) :: count, dest, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  integer :: blocking, nonblocking
  common /calls/ blocking, nonblocking
  blocking = blocking + count
  call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

subroutine MPI_Irecv_f08ts(buf, count, datatype, source, tag, comm, request, ierror)
  use mpi_f08, only: MPI_Datatype, MPI_Comm, MPI_Request, PMPI_Irecv
  implicit none
  type(*), dimension(..), asynchronous, target :: buf
  integer, intent(in) :: count, source, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  type(MPI_Request), intent(out) :: request
  integer, optional, intent(out) :: ierror
  integer :: blocking, nonblocking
  common /calls/ blocking, nonblocking
  nonblocking = nonblocking + count
  call PMPI_Irecv(buf, count, datatype, source, tag, comm, request, ierror)
end subroutine
