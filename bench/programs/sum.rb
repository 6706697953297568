require "mpi"
MPI.Init
world = MPI::Comm::WORLD
rank = world.rank
puts "size #{world.size}" if rank == 0
if rank == 0
  total = 0
  (1...world.size).each do |i|
    message = " " * 8
    status = world.Recv(message, i, 7)
    total += message.to_i
  end
  puts "sum #{total}"
else
  world.Send(("%8d" % (rank * rank)), 0, 7)
end
MPI.Finalize
