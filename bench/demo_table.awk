# The table of `./dev demo`: awk -v cores=N -f demo_table.awk ROWS
#
# ROWS has the last line of each run of cg2d, and before it the other work on the machine during the
# run:
#   demo: other work 3 %
#   cg2d: ranks 4, steps 2662, time per step mean 566.1 us, residual 9.929857e-07
/^demo: other work/ { others = $4 }
/^cg2d: ranks/ {
  gsub(/,/, "")
  ranks = $3; steps = $5; mean = $10; residual = $13
  if (++rows == 1) {
    one = mean; first = residual; others_of_one = others
    printf "\n%8s %8s %22s %12s %12s %14s\n", "ranks", "steps", "time per step, mean", "efficiency", "other work", "residual"
  }
  used = ranks < cores ? ranks : cores
  efficiency = 100 * one / (mean * used)
  if (efficiency > 105) is_above = 1
  if (others > most_others) most_others = others
  printf "%8d %8d %19.1f us %10.0f %% %10d %% %14s\n", ranks, steps, mean, efficiency, others, residual
  if (residual != first) differs = 1
}
END {
  print "\nefficiency: mean of 1 rank / (mean x cores used, of " cores ")"
  if (is_above && others_of_one > 5)
    print "dev: an efficiency above 100 % means nothing here: other work took " others_of_one " % of the machine during the run with 1 rank"
  else if (is_above)
    print "dev: an efficiency above 100 % comes from the caches: the blocks of many ranks fit, the block of 1 rank does not"
  if (most_others > 5)
    print "dev: other work took up to " most_others " % of the machine: run it again on a quiet one before you compare times"
  if (rows < 1 || differs) { print "dev: the residuals differ: something is wrong"; exit 1 }
  print "dev: " rows " runs, the same residual every time"
}
