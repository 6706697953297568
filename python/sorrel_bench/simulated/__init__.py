"""A simulated machine: what messages, collectives and loans cost on more cores and nodes than there are here. It has the protocols of
src/core and src/mpi/collectives, and costs that were measured on this machine."""
