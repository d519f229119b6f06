//go:build race

package websearch

// underRace reports whether the race detector is on, which slows work of this kind about tenfold.
const underRace = true
