//go:build race

package outgoing

// underRace reports whether the race detector is on. It slows work of this kind about tenfold and makes sync.Pool forget at
// random, so that big inputs and fine measurements are for the runs without it.
const underRace = true
