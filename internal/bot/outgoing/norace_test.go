//go:build !race

package outgoing

const underRace = false
