//go:build !race

package websearch

const underRace = false
