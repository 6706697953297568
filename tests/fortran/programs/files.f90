! Files by mpi_f08: kinds of offsets, handles, views, collective and nonblocking access, error handlers.
module file_checks
  use mpi_f08
  implicit none
  integer :: failures = 0, done = 0, handled = 0
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    done = done + 1
    if (right) return
    failures = failures + 1
    print *, 'wrong: ', what
  end subroutine
  subroutine note_error(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    if (file == MPI_FILE_NULL .and. error_code /= MPI_SUCCESS) handled = handled + 1
  end subroutine
end module

program files
  use mpi_f08
  use file_checks
  implicit none
  integer :: rank, size, error, length, amode, class, i
  integer, asynchronous :: numbers(5), again(5), one(1)
  integer(MPI_OFFSET_KIND) :: bytes, place
  type(MPI_File) :: file
  type(MPI_Datatype) :: tile, etype, filetype
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  type(MPI_Errhandler) :: handler
  type(MPI_Group) :: group
  type(MPI_Info) :: info
  character(len=MPI_MAX_DATAREP_STRING) :: datarep
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_File_open(MPI_COMM_WORLD, 'numbers', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
    MPI_INFO_NULL, file)
  call MPI_File_get_amode(file, amode)
  call check(amode == MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, 'amode')
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, int(4 * size, MPI_ADDRESS_KIND), tile)
  call MPI_Type_commit(tile)
  place = 4 * rank
  call MPI_File_set_view(file, place, MPI_INTEGER, tile, 'native', MPI_INFO_NULL)
  numbers = [(100 * rank + i, i = 1, 5)]
  call MPI_File_write_all(file, numbers, 5, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, length)
  call check(length == 5, 'count')
  call MPI_File_get_position(file, place)
  call check(place == 5, 'position')
  again = 0
  call MPI_File_iread_at(file, 1_MPI_OFFSET_KIND, again, 3, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call check(all(again(1:3) == numbers(2:4)), 'iread_at')
  call MPI_File_seek(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
  call MPI_File_read_all_begin(file, again, 5, MPI_INTEGER)
  call MPI_File_read_all_end(file, again, status)
  call check(all(again == numbers), 'split')
  call MPI_File_get_byte_offset(file, 2_MPI_OFFSET_KIND, place)
  call check(place == 4 * rank + 8 * size, 'byte offset')
  ! A collective write need not wait for that of another rank.
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_get_size(file, bytes)
  call check(bytes == 20 * size, 'size')
  call MPI_File_get_view(file, place, etype, filetype, datarep)
  call check(place == 4 * rank .and. etype == MPI_INTEGER .and. datarep == 'native', 'view')
  call MPI_Type_free(filetype)
  call MPI_Type_free(tile)
  call MPI_File_get_group(file, group)
  call MPI_Group_size(group, length)
  call check(length == size, 'group')
  call MPI_Group_free(group)
  call MPI_File_get_info(file, info)
  call MPI_Info_free(info)
  call MPI_File_set_atomicity(file, .true.)
  call MPI_File_get_atomicity(file, flag)
  call check(flag, 'atomicity')
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  one = rank
  call MPI_File_write_ordered(file, one, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
  call MPI_File_get_position_shared(file, place)
  call check(place == size, 'shared position')
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
  call MPI_File_read_ordered(file, one, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
  call check(one(1) == rank, 'ordered')
  call MPI_File_close(file)
  call check(file == MPI_FILE_NULL, 'close')
  call MPI_File_open(MPI_COMM_WORLD, 'absent', MPI_MODE_RDONLY, MPI_INFO_NULL, file, error)
  call MPI_Error_class(error, class)
  call check(class == MPI_ERR_NO_SUCH_FILE, 'no such file')
  call MPI_File_create_errhandler(note_error, handler)
  call MPI_File_set_errhandler(MPI_FILE_NULL, handler)
  call MPI_File_delete('absent', MPI_INFO_NULL, error)
  call check(handled == 1, 'handler')
  call MPI_Errhandler_free(handler)
  call MPI_Reduce(failures, i, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0)', 'checks ', done, ', failures ', i
  call MPI_Finalize()
end program
