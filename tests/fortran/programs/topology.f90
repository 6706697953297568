! Graphs, neighbourhood collectives and intercommunicators in mpi_f08.
program topology
  use mpi_f08
  implicit none
  integer :: rank, size, next, prev, failures = 0, done = 0, all_failures
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  call graphs()
  call distributed_graphs()
  call neighbors()
  call groups()
  call MPI_Reduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0)', 'checks ', done, ', failures ', all_failures
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

  subroutine graphs()
    type(MPI_Comm) :: graph
    integer :: index(size), edges(2 * size), i, nodes, count, found(2), kind
    do i = 1, size
      index(i) = 2 * i
      edges(2 * i - 1) = mod(i, size)
      edges(2 * i) = mod(i + size - 2, size)
    end do
    call MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, .false., graph)
    call MPI_Topo_test(graph, kind)
    call check(kind == MPI_GRAPH, 'kind of graph')
    call MPI_Graphdims_get(graph, nodes, count)
    call check(nodes == size .and. count == 2 * size, 'size of graph')
    call MPI_Graph_neighbors(graph, rank, 2, found)
    call check(all(found == [next, prev]), 'neighbors')
    call MPI_Comm_free(graph)
  end subroutine

  subroutine distributed_graphs()
    type(MPI_Comm) :: graph
    integer :: in_count, out_count, sources(2), destinations(2), in_weights(2), out_weights(2), values(2)
    logical :: is_weighted
    ! Each rank tells of the edge from its predecessor to itself.
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [prev], [1], [rank], [10 + rank], MPI_INFO_NULL, .true., graph)
    call MPI_Dist_graph_neighbors_count(graph, in_count, out_count, is_weighted)
    call check(in_count == 1 .and. out_count == 1 .and. is_weighted, 'count of edges')
    call MPI_Dist_graph_neighbors(graph, 1, sources, in_weights, 1, destinations, out_weights)
    call check(sources(1) == prev .and. in_weights(1) == 10 + rank, 'edge in')
    call check(destinations(1) == next .and. out_weights(1) == 10 + next, 'edge out')
    call MPI_Comm_free(graph)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [prev], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, in_count, out_count, is_weighted)
    call check(.not. is_weighted, 'no weights')
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED)
    call check(sources(1) == prev .and. destinations(1) == next, 'adjacent edges')
    values = -1
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, values, 1, MPI_INTEGER, graph)
    call check(all(values == [prev, -1]), 'allgather over the graph')
    call MPI_Comm_free(graph)
    ! A rank without edges.
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, [0], [0], [0], MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, in_count, out_count, is_weighted)
    call check(in_count == 0 .and. is_weighted, 'no edges')
    call MPI_Comm_free(graph)
  end subroutine

  subroutine neighbors()
    type(MPI_Comm) :: ring
    type(MPI_Request) :: request
    type(MPI_Datatype) :: types(2)
    integer, asynchronous :: from(2), to(2)
    integer, asynchronous :: grid(2, 4)
    integer(MPI_ADDRESS_KIND) :: places(2)
    integer :: round
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring)
    from = [100 * rank, 100 * rank + 1]
    call MPI_Neighbor_alltoall(from, 1, MPI_INTEGER, to, 1, MPI_INTEGER, ring)
    call check(all(to == [100 * prev + 1, 100 * next]), 'alltoall')
    to = -1
    types = MPI_INTEGER
    places = [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND]
    call MPI_Neighbor_alltoallw(from, [1, 1], places, types, to, [1, 1], places, types, ring)
    call check(all(to == [100 * prev + 1, 100 * next]), 'alltoallw')
    ! A section: every other column.
    grid = -1
    call MPI_Ineighbor_allgather(rank, 1, MPI_INTEGER, grid(1, 1:3:2), 1, MPI_INTEGER, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(grid(1, :) == [prev, -1, next, -1]) .and. all(grid(2, :) == -1), 'ineighbor_allgather')
    call MPI_Neighbor_alltoallv_init(from, [1, 1], [0, 1], MPI_INTEGER, to, [1, 1], [0, 1], MPI_INTEGER, ring, &
                                     MPI_INFO_NULL, request)
    do round = 1, 3
      from = [100 * rank + round, 100 * rank + 10 + round]
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(all(to == [100 * prev + 10 + round, 100 * next + round]), 'persistent')
    end do
    call MPI_Request_free(request)
    call MPI_Comm_free(ring)
  end subroutine

  subroutine groups()
    type(MPI_Comm) :: own, inter, merged
    integer :: is_low, count, value, root
    logical :: flag
    is_low = merge(1, 0, rank < size / 2)
    call MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, own)
    call MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, merge(size / 2, 0, is_low == 1), 3, inter)
    call MPI_Comm_test_inter(inter, flag)
    call check(flag, 'test_inter')
    call MPI_Comm_remote_size(inter, count)
    call check(count == merge(size - size / 2, size / 2, is_low == 1), 'remote_size')
    value = rank
    root = 0
    if (is_low == 1) root = merge(MPI_ROOT, MPI_PROC_NULL, rank == 0)
    call MPI_Bcast(value, 1, MPI_INTEGER, root, inter)
    call check(value == merge(rank, 0, is_low == 1), 'bcast between groups')
    call MPI_Intercomm_merge(inter, is_low == 1, merged)
    call MPI_Comm_rank(merged, count)
    call check(count == merge(rank + size - size / 2, rank - size / 2, is_low == 1), 'merge')
    call MPI_Comm_free(merged)
    call MPI_Comm_free(inter)
    call MPI_Comm_free(own)
  end subroutine
end program
