# Reads what `go test -v` prints of several packages. It passes on the line with which go test ends each package, with the seed
# of its order, and what a package printed that failed. At the end it counts the tests. The file `slowest` gets a line for each
# test: seconds, package, name.

BEGIN { printf "" >slowest }

/^-test\.shuffle / { seed = $2 }
/^ *--- (PASS|FAIL|SKIP): / { ended[$2]++; times[++tests] = substr($NF, 2, length($NF) - 3); names[tests] = $(NF - 1) }
/^=== |^ *--- (PASS|SKIP): / { next }
{ lines[++n] = $0 }

/^(ok  |FAIL|\?   )\t/ {
  if ($1 != "?") packages++
  if ($1 == "FAIL") for (i = 1; i < n; i++) print lines[i] # the last is this one
  print $0 (seed ? "\t-shuffle=" seed : "")
  for (i = 1; i <= tests; i++) printf "%8.2f %s %s\n", times[i], $2, names[i] >slowest
  n = tests = 0; seed = ""
  fflush()
}

END {
  for (i = 1; i <= n; i++) print lines[i]
  printf "%d tests and subtests passed, %d failed, %d were skipped, in %d packages\n", ended["PASS:"], ended["FAIL:"], ended["SKIP:"], packages
}
