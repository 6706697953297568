! Valid in fixed and in free form: statements begin in column 7 and have no
! continuation lines. -DOLD_MPI leaves out what other MPIs do not have or do
! otherwise. -DUSE_MPIF_H, -DUSE_MPI or -DUSE_F08 selects the binding.
#ifdef USE_F08
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#define GROUP type(MPI_Group)
#define OP type(MPI_Op)
#define INFO type(MPI_Info)
#define HANDLER type(MPI_Errhandler)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name,n) type(MPI_Status) :: name(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define SOURCE_IN(s,i) s(i)%MPI_SOURCE
#define ONE_OF(s,i) s(i)
#else
#define COMM integer
#define DATATYPE integer
#define REQUEST integer
#define GROUP integer
#define OP integer
#define INFO integer
#define HANDLER integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name,n) integer :: name(MPI_STATUS_SIZE,n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define SOURCE_IN(s,i) s(MPI_SOURCE,i)
#define ONE_OF(s,i) s(:,i)
#endif
#ifdef USE_MPIF_H
#define USE_STATEMENT
#define DECLARE include 'mpif.h'
#elif defined(USE_F08)
#define USE_STATEMENT use mpi_f08
#define DECLARE
#else
#define USE_STATEMENT use mpi
#define DECLARE
#endif
#define A_INT integer(kind=MPI_ADDRESS_KIND)
! The modules do without this attribute of the standard.
#ifdef WITHOUT_ASYNCHRONOUS
#define KEPT
#else
#define KEPT , asynchronous
#endif

      module results
      implicit none
      integer, save :: failures = 0, checks = 0, handled = 0
      integer, save :: copied = 0, deleted = 0
      contains
      subroutine check(right, what)
      logical, intent(in) :: right
      character(len=*), intent(in) :: what
      checks = checks + 1
      if (right) return
      failures = failures + 1
      write(*,*) 'wrong: ', what
      end subroutine
      end module

! Reduction function: the sum of squares would not be associative, so 2x2
! matrices are multiplied, which is not commutative.
#ifdef USE_F08
      subroutine multiply(invec, inoutvec, len, datatype)
#else
      subroutine multiply(a, b, len, datatype)
#endif
      USE_STATEMENT
      use, intrinsic :: iso_c_binding
      implicit none
      DECLARE
#ifdef USE_F08
      type(c_ptr), value :: invec, inoutvec
      integer, pointer :: a(:,:,:), b(:,:,:)
#else
      integer :: a(2,2,*), b(2,2,*)
#endif
      integer :: len, i, bytes, ierror
      DATATYPE :: datatype
#ifdef USE_F08
      call c_f_pointer(invec, a, [2,2,len])
      call c_f_pointer(inoutvec, b, [2,2,len])
#endif
      call MPI_Type_size(datatype, bytes, ierror)
      if (bytes /= 16) stop 3
      do i = 1, len
      b(:,:,i) = matmul(a(:,:,i), b(:,:,i))
      end do
      end subroutine


      subroutine copy_attr(c, key, state, old, new, flag, ierror)
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      COMM :: c
      integer :: key, ierror
      A_INT :: state, old, new
      logical :: flag
      new = old + state
      flag = .true.
      copied = copied + 1
      ierror = MPI_SUCCESS
      end subroutine

      subroutine delete_attr(c, key, val, state, ierror)
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      COMM :: c
      integer :: key, ierror
      A_INT :: val, state
      if (state == 1000) deleted = deleted + 1
      ierror = MPI_SUCCESS
      end subroutine

      subroutine handler(c, code)
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      COMM :: c
      integer :: code, class, ierror
      call MPI_Error_class(code, class, ierror)
      if (class == MPI_ERR_RANK) handled = handled + 1
      end subroutine

      subroutine point_to_point(rank, size)
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      integer :: rank, size, next, prev, ierror, n, i, idx, done
      integer :: list(4)
      real KEPT :: a(10), b(10)
      double precision :: d(3)
      character(len=7) KEPT :: text
      character(len=8) :: word
      logical :: flag
      REQUEST :: r(4), one
      STATUS(s)
      STATUSES(t,4)
      next = mod(rank + 1, size)
      prev = mod(rank + size - 1, size)
      a = rank
      b = -1
      call MPI_Sendrecv(a, 10, MPI_REAL, next, 5, b, 10, MPI_REAL, prev, 5, MPI_COMM_WORLD, s, ierror)
      call check(ierror == MPI_SUCCESS, 'sendrecv ierror')
      call check(all(b == prev), 'sendrecv data')
      call check(SOURCE_OF(s) == prev .and. TAG_OF(s) == 5, 'status')
      call MPI_Get_count(s, MPI_REAL, n, ierror)
      call check(n == 10, 'get_count')
! Buffers of other types and ranks, statuses ignored.
      text = 'abcdefg'
      call MPI_Isend(text, 7, MPI_CHARACTER, next, 6, MPI_COMM_WORLD, one, ierror)
      text(1:3) = 'abc'
      d = 0
      call MPI_Recv(d, 7, MPI_CHARACTER, prev, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      word = transfer(d(1), word)
      call check(word(1:7) == 'abcdefg', 'characters')
      call MPI_Wait(one, MPI_STATUS_IGNORE, ierror)
      call check(one == MPI_REQUEST_NULL, 'request is null after wait')
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 7, n, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, s, ierror)
      call check(n == prev .and. SOURCE_OF(s) == prev .and. TAG_OF(s) == 7, 'wildcards')
! Nonblocking calls, arrays of statuses, positions counted from 1.
      do i = 1, 4
      call MPI_Irecv(b(i), 1, MPI_REAL, prev, i, MPI_COMM_WORLD, r(i), ierror)
      end do
      do i = 4, 1, -1
      a(i) = 100*rank + i
      call MPI_Send(a(i), 1, MPI_REAL, next, i, MPI_COMM_WORLD, ierror)
      end do
      call MPI_Waitall(4, r, t, ierror)
      do i = 1, 4
      call check(b(i) == 100*prev + i, 'waitall data')
      call check(SOURCE_IN(t,i) == prev, 'waitall status')
      call check(r(i) == MPI_REQUEST_NULL, 'waitall request')
      call MPI_Get_count(ONE_OF(t,i), MPI_REAL, n, ierror)
      call check(n == 1, 'waitall count')
      end do
      call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierror)
      r = MPI_REQUEST_NULL
      call MPI_Irecv(b, 1, MPI_REAL, prev, 9, MPI_COMM_WORLD, r(3), ierror)
      call MPI_Send(a, 1, MPI_REAL, next, 9, MPI_COMM_WORLD, ierror)
      call MPI_Waitany(4, r, idx, s, ierror)
      call check(idx == 3, 'waitany counts from 1')
      call MPI_Waitany(4, r, idx, s, ierror)
      call check(idx == MPI_UNDEFINED, 'waitany without requests')
      call MPI_Irecv(b(1), 1, MPI_REAL, prev, 9, MPI_COMM_WORLD, r(2), ierror)
      call MPI_Irecv(b(2), 1, MPI_REAL, prev, 9, MPI_COMM_WORLD, r(4), ierror)
      call MPI_Send(a, 1, MPI_REAL, next, 9, MPI_COMM_WORLD, ierror)
      call MPI_Send(a, 1, MPI_REAL, next, 9, MPI_COMM_WORLD, ierror)
      n = 0
      i = 0
      do while (n < 2)
      call MPI_Waitsome(4, r, done, list, MPI_STATUSES_IGNORE, ierror)
      n = n + done
      i = i + sum(list(1:done))
      end do
      call check(i == 6, 'waitsome counts from 1')
      call MPI_Testsome(4, r, done, list, t, ierror)
      call check(done == MPI_UNDEFINED, 'testsome without requests')
      call MPI_Testany(4, r, idx, flag, s, ierror)
      call check(flag .and. idx == MPI_UNDEFINED, 'testany without requests')
      call MPI_Testall(4, r, flag, MPI_STATUSES_IGNORE, ierror)
      call check(flag, 'testall without requests')
! Probes.
      call MPI_Isend(a, 3, MPI_REAL, next, 11, MPI_COMM_WORLD, one, ierror)
      call MPI_Probe(prev, 11, MPI_COMM_WORLD, s, ierror)
      call MPI_Get_count(s, MPI_REAL, n, ierror)
      call check(n == 3, 'probe')
      call MPI_Recv(b, n, MPI_REAL, prev, 11, MPI_COMM_WORLD, s, ierror)
      call MPI_Wait(one, s, ierror)
      call MPI_Iprobe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
      call check(.not. flag, 'iprobe')
! Persistent requests.
      call MPI_Send_init(a, 1, MPI_REAL, next, 13, MPI_COMM_WORLD, r(1), ierror)
      call MPI_Recv_init(b, 1, MPI_REAL, prev, 13, MPI_COMM_WORLD, r(2), ierror)
      do i = 1, 3
      a(1) = rank + i
      call MPI_Startall(2, r, ierror)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierror)
      call check(b(1) == prev + i, 'persistent')
      end do
      call check(.not. r(1) == MPI_REQUEST_NULL, 'a persistent request stays')
      call MPI_Request_free(r(1), ierror)
      call MPI_Request_free(r(2), ierror)
      call check(r(1) == MPI_REQUEST_NULL, 'request_free')
! To no process.
      call MPI_Recv(b, 1, MPI_REAL, MPI_PROC_NULL, 0, MPI_COMM_WORLD, s, ierror)
      call check(SOURCE_OF(s) == MPI_PROC_NULL, 'proc_null')
      end subroutine

      subroutine collectives(rank, size)
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      external :: multiply
      integer :: rank, size, ierror, i, n, m(2,2), expected(2,2), e(2,2)
      integer :: counts(size), displs(size)
      double precision :: x(5), y(5)
      integer, allocatable :: g(:)
      logical :: l, lsum
      DATATYPE :: matrix
      OP :: product
      A_INT :: address, addresses(2)
      integer :: lengths(2)
      DATATYPE :: types(2), both
      x = rank + 1
      call MPI_Allreduce(x, y, 5, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
      call check(all(y == size*(size+1)/2), 'allreduce')
      call MPI_Allreduce(MPI_IN_PLACE, x, 5, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
      call check(all(x == size), 'allreduce in place')
      allocate(g(3*size))
      g = -1
      g(3*rank+1:3*rank+3) = rank
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, g, 3, MPI_INTEGER, MPI_COMM_WORLD, ierror)
      do i = 0, size - 1
      call check(all(g(3*i+1:3*i+3) == i), 'allgather in place')
      end do
      n = 0
      do i = 1, size
      counts(i) = mod(i, 3) + 1
      displs(i) = n
      n = n + counts(i)
      end do
      g = -1
      call MPI_Gatherv([(rank, i=1,3)], counts(rank+1), MPI_INTEGER, g, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
      if (rank == 0) then
      do i = 1, size
      call check(all(g(displs(i)+1:displs(i)+counts(i)) == i-1), 'gatherv')
      end do
      end if
      l = rank == 1
      call MPI_Allreduce(l, lsum, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
      call check(lsum .eqv. size > 1, 'lor')
! A reduction function of the program, for a type of the program.
      call MPI_Type_contiguous(4, MPI_INTEGER, matrix, ierror)
      call MPI_Type_commit(matrix, ierror)
      call MPI_Op_create(multiply, .false., product, ierror)
      call check(ierror == MPI_SUCCESS, 'op_create')
      call MPI_Op_commutative(product, l, ierror)
      call check(.not. l, 'op_commutative')
      m = reshape([1, rank, 1, rank+1], [2,2])
      expected = reshape([1, 0, 0, 1], [2,2])
      do i = 0, size - 1
      e = reshape([1, i, 1, i+1], [2,2])
      expected = matmul(expected, e)
      end do
      call MPI_Allreduce(MPI_IN_PLACE, m, 1, matrix, product, MPI_COMM_WORLD, ierror)
      call check(all(m == expected), 'user-defined reduction')
      call MPI_Op_free(product, ierror)
      call check(product == MPI_OP_NULL, 'op_free')
! A procedure takes one place, however often it is passed.
      do i = 1, 200
      call MPI_Op_create(multiply, .false., product, ierror)
      if (ierror == MPI_SUCCESS) call MPI_Op_free(product, ierror)
      call check(ierror == MPI_SUCCESS, 'op_create again')
      end do
      call MPI_Type_free(matrix, ierror)
! MPI_BOTTOM with addresses.
      x = rank
      y = 100 + rank
      n = 7*rank
      call MPI_Get_address(x, addresses(1), ierror)
      call MPI_Get_address(n, addresses(2), ierror)
      lengths(1) = 5
      lengths(2) = 1
      types(1) = MPI_DOUBLE_PRECISION
      types(2) = MPI_INTEGER
      call MPI_Type_create_struct(2, lengths, addresses, types, both, ierror)
      call MPI_Type_commit(both, ierror)
      call MPI_F_sync_reg(x)
      call MPI_F_sync_reg(n)
      call MPI_Bcast(MPI_BOTTOM, 1, both, size-1, MPI_COMM_WORLD, ierror)
      call MPI_F_sync_reg(x)
      call MPI_F_sync_reg(n)
      call check(all(x == size-1) .and. n == 7*(size-1), 'bottom')
      call MPI_Type_free(both, ierror)
      call check(both == MPI_DATATYPE_NULL, 'type_free')
#ifndef OLD_MPI
      address = MPI_Aint_add(addresses(1), int(8, MPI_ADDRESS_KIND))
      call check(MPI_Aint_diff(address, addresses(1)) == 8, 'aint_add, aint_diff')
#endif
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      end subroutine

      subroutine datatypes(rank, size)
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      integer :: rank, size, next, prev, ierror, i, j, bytes, place
      integer :: a(6,5), b(6,5), num(4), ints(10), pack(40)
      A_INT :: lb, extent, addresses(1)
      DATATYPE :: inner, row, types(1), found, pieces
      next = mod(rank + 1, size)
      prev = mod(rank + size - 1, size)
      do j = 1, 5
      do i = 1, 6
      a(i,j) = 100*i + j + 1000*rank
      end do
      end do
      b = 0
      call MPI_Type_create_subarray(2, [6,5], [3,2], [1,2], MPI_ORDER_FORTRAN, MPI_INTEGER, inner, ierror)
      call MPI_Type_commit(inner, ierror)
      call MPI_Sendrecv(a, 1, inner, next, 0, b, 1, inner, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call check(all(b(2:4,3:4) == a(2:4,3:4) + 1000*(prev-rank)), 'subarray')
      call check(count(b /= 0) == 6, 'subarray alone')
      call MPI_Type_size(inner, bytes, ierror)
      call check(bytes == 24, 'type_size')
      call MPI_Type_get_extent(inner, lb, extent, ierror)
      call check(lb == 0 .and. extent == 120, 'type_get_extent')
      call MPI_Type_get_envelope(inner, num(1), num(2), num(3), num(4), ierror)
      call check(num(4) == MPI_COMBINER_SUBARRAY .and. num(3) == 1, 'type_get_envelope')
      call MPI_Type_get_contents(inner, num(1), num(2), num(3), ints, addresses, types, ierror)
      call check(types(1) == MPI_INTEGER .and. ints(1) == 2, 'type_get_contents')
      call MPI_Type_vector(5, 1, 6, MPI_INTEGER, row, ierror)
      call MPI_Type_commit(row, ierror)
      b = 0
      call MPI_Sendrecv(a(2,1), 1, row, next, 0, b(3,1), 1, row, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call check(all(b(3,:) == a(2,:) + 1000*(prev-rank)), 'a row by its first element')
! Sections of blocking calls: the compiler copies.
      b = 0
      call MPI_Sendrecv(a(2,:), 5, MPI_INTEGER, next, 0, b(4,:), 5, MPI_INTEGER, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call check(all(b(4,:) == a(2,:) + 1000*(prev-rank)), 'sections')
      call check(count(b /= 0) == 5, 'sections alone')
      place = 0
      call MPI_Pack(a, 1, inner, pack, 160, place, MPI_COMM_WORLD, ierror)
      call check(place == 24, 'pack')
      b = 0
      place = 0
      call MPI_Unpack(pack, 24, place, b, 1, inner, MPI_COMM_WORLD, ierror)
      call check(all(b(2:4,3:4) == a(2:4,3:4)), 'unpack')
      call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, found, ierror)
      call MPI_Type_size(found, bytes, ierror)
      call check(bytes == 8, 'type_match_size')
      call MPI_Type_create_hvector(3, 1, int(40, MPI_ADDRESS_KIND), MPI_DOUBLE_PRECISION, pieces, ierror)
      call MPI_Type_get_extent(pieces, lb, extent, ierror)
      call check(extent == 88, 'type_create_hvector')
      call MPI_Type_free(pieces, ierror)
      call MPI_Type_free(inner, ierror)
      call MPI_Type_free(row, ierror)
      end subroutine

      subroutine strings(rank, size)
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      integer :: rank, size, ierror, n, length
      character(len=MPI_MAX_OBJECT_NAME) :: name
      character(len=MPI_MAX_PROCESSOR_NAME) :: processor
      character(len=MPI_MAX_ERROR_STRING) :: error
      character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
      character(len=10) :: value
      character(len=5) :: short
      logical :: flag
      COMM :: c
      INFO :: i, j
      call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
      call MPI_Comm_set_name(c, ' a name   ', ierror)
      name = repeat('x', len(name))
      call MPI_Comm_get_name(c, name, n, ierror)
#ifndef OLD_MPI
      call check(n == 7 .and. name == ' a name', 'names are padded and cut')
#endif
#ifndef OLD_MPI
      call MPI_Comm_get_name(MPI_COMM_WORLD, short, n, ierror)
      call check(short == 'MPI_C', 'a short string cuts a name')
#endif
      call MPI_Comm_free(c, ierror)
      call check(c == MPI_COMM_NULL, 'comm_free')
      call MPI_Get_processor_name(processor, n, ierror)
      call check(n == len_trim(processor) .and. n > 0, 'processor name')
      call MPI_Error_string(MPI_ERR_RANK, error, n, ierror)
      call check(n == len_trim(error) .and. n > 0, 'error_string')
      call MPI_Get_library_version(version, n, ierror)
#ifndef OLD_MPI
      call check(n == len_trim(version), 'library version')
#endif
      call MPI_Info_create(i, ierror)
      call MPI_Info_set(i, '  key ', ' some value   ', ierror)
      call MPI_Info_get_nkeys(i, n, ierror)
      call check(n == 1, 'info_get_nkeys')
      call MPI_Info_get_nthkey(i, 0, name, ierror)
      call check(name == 'key', 'info keys are trimmed')
      call MPI_Info_get_valuelen(i, 'key', n, flag, ierror)
      call check(flag .and. n == 10, 'info_get_valuelen')
      value = ''
      call MPI_Info_get(i, 'key   ', 10, value, flag, ierror)
      call check(flag .and. value == 'some value', 'info_get')
      call MPI_Info_get(i, 'none', 10, value, flag, ierror)
      call check(.not. flag, 'info_get of none')
#ifndef OLD_MPI
      length = 0
      call MPI_Info_get_string(i, 'key', length, value, flag, ierror)
      call check(flag .and. length == 10, 'info_get_string tells the length')
      length = 4
      value = 'yyyyyyyyyy'
      call MPI_Info_get_string(i, 'key', length, value, flag, ierror)
      call check(flag .and. length == 10 .and. value == 'some', 'info_get_string')
#endif
      call MPI_Info_dup(i, j, ierror)
      call MPI_Info_delete(j, 'key', ierror)
      call MPI_Info_free(j, ierror)
      call MPI_Info_free(i, ierror)
      call check(i == MPI_INFO_NULL, 'info_free')
      end subroutine

      subroutine communicators(rank, size)
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      external :: copy_attr, delete_attr, handler
      integer :: rank, size, ierror, n, key, dims(2), coords(2), source, dest, r
      integer :: ranges(3,1), ranks(2), others(2)
      logical :: periods(2), flag
      COMM :: cart, half, twin
      GROUP :: world, part
      HANDLER :: h
      A_INT :: val, state
      STATUS(s)
      call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierror)
      call MPI_Comm_rank(half, r, ierror)
      call check(r == rank/2, 'comm_split')
      call MPI_Comm_compare(half, MPI_COMM_WORLD, n, ierror)
      call check(n == merge(MPI_CONGRUENT, MPI_UNEQUAL, size == 1), 'comm_compare')
      call MPI_Comm_free(half, ierror)
      call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
      ranges(:,1) = [size-1, 0, -1]
      call MPI_Group_range_incl(world, 1, ranges, part, ierror)
      call MPI_Group_rank(part, n, ierror)
      call check(n == size-1-rank, 'group_range_incl')
      ranks = [0, size-1]
      call MPI_Group_translate_ranks(world, 2, ranks, part, others, ierror)
      call check(others(1) == size-1 .and. others(2) == 0, 'group_translate_ranks')
      call MPI_Group_free(part, ierror)
      call MPI_Group_free(world, ierror)
! Logical arrays.
      dims = 0
      call MPI_Dims_create(size, 2, dims, ierror)
      call check(dims(1)*dims(2) == size, 'dims_create')
      call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierror)
      call MPI_Cart_get(cart, 2, dims, periods, coords, ierror)
      call check(periods(1) .and. .not. periods(2), 'cart periods')
      call check(periods(1) .eqv. .true., 'cart periods are .true.')
      call MPI_Cart_coords(cart, rank, 2, coords, ierror)
      call MPI_Cart_rank(cart, coords, n, ierror)
      call check(n == rank, 'cart_coords, cart_rank')
      call MPI_Cart_shift(cart, 1, 1, source, dest, ierror)
      call check((coords(2) == dims(2)-1) .eqv. (dest == MPI_PROC_NULL), 'cart_shift')
      call MPI_Comm_free(cart, ierror)
! Attributes.
      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, val, flag, ierror)
      call check(flag .and. val >= 32767, 'MPI_TAG_UB')
      state = 1000
      call MPI_Comm_create_keyval(copy_attr, delete_attr, key, state, ierror)
      val = 5000000000_MPI_ADDRESS_KIND + rank
      call MPI_Comm_set_attr(MPI_COMM_WORLD, key, val, ierror)
      call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierror)
      call check(copied == 1, 'copy function called')
      call MPI_Comm_get_attr(twin, key, val, flag, ierror)
      call check(flag .and. val == 5000001000_MPI_ADDRESS_KIND + rank, 'attribute copied')
      call MPI_Comm_free(twin, ierror)
      call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
      call check(deleted == 2, 'delete function called')
      call MPI_Comm_free_keyval(key, ierror)
      call check(key == MPI_KEYVAL_INVALID, 'comm_free_keyval')
      call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, state, ierror)
      val = -3
      call MPI_Comm_set_attr(MPI_COMM_WORLD, key, val, ierror)
      call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierror)
      val = 0
      call MPI_Comm_get_attr(twin, key, val, flag, ierror)
      call check(flag .and. val == -3, 'MPI_COMM_DUP_FN')
      call MPI_Comm_free(twin, ierror)
      call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
      call MPI_Comm_free_keyval(key, ierror)
! Errors that return, and a handler of the program.
      call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierror)
      call MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN, ierror)
      call MPI_Send(rank, 1, MPI_INTEGER, size, 0, twin, ierror)
      call check(ierror /= MPI_SUCCESS, 'an error returns')
      call MPI_Error_class(ierror, n, ierror)
      call check(n == MPI_ERR_RANK, 'error_class')
      call MPI_Comm_create_errhandler(handler, h, ierror)
      call MPI_Comm_set_errhandler(twin, h, ierror)
      call MPI_Errhandler_free(h, ierror)
      call check(h == MPI_ERRHANDLER_NULL, 'errhandler_free')
      call MPI_Send(rank, 1, MPI_INTEGER, size, 0, twin, ierror)
      call check(handled == 1, 'the error handler was called')
      call MPI_Comm_free(twin, ierror)
      end subroutine

      program basics
      USE_STATEMENT
      use results
      implicit none
      DECLARE
      integer :: rank, size, ierror, provided, total, bytes
      logical :: flag
      double precision :: t
#if !defined(USE_MPIF_H) && !defined(OLD_MPI)
      complex(8) :: z(3)
#endif
      call MPI_Initialized(flag, ierror)
      call check(.not. flag, 'not initialized')
      call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
      call check(provided >= MPI_THREAD_FUNNELED, 'thread level')
      call MPI_Initialized(flag, ierror)
      call check(flag .eqv. .true., 'initialized')
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
      call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
      t = MPI_Wtime()
      call check(MPI_Wtick() > 0 .and. MPI_Wtick() < 1, 'wtick')
      call point_to_point(rank, size)
      call collectives(rank, size)
      call datatypes(rank, size)
      call strings(rank, size)
      call communicators(rank, size)
#if !defined(USE_MPIF_H) && !defined(OLD_MPI)
      call MPI_Sizeof(z, bytes, ierror)
      call check(bytes == 16, 'sizeof')
      call MPI_Sizeof(rank, bytes, ierror)
      call check(bytes == 4, 'sizeof of an integer')
#ifdef __x86_64__
      call MPI_Sizeof(1.0_10, bytes, ierror)
      call check(bytes == 16, 'sizeof of a real of 80 bits')
      call MPI_Sizeof((1.0_10, 2.0_10), bytes, ierror)
      call check(bytes == 32, 'sizeof of a complex of 80 bits')
#endif
#endif
      call check(MPI_Wtime() >= t, 'wtime')
      call MPI_Reduce(failures, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
      if (rank == 0) write(*,'(a,i0,a,i0)') 'checks ', checks, ', failures ', total
      call MPI_Finalize(ierror)
      if (failures > 0) stop 1
      end program
