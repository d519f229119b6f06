// Package wait waits in tests for other goroutines, processes or the operating system. It is for waits that have neither an event nor
// virtual time. No other package of tests polls.
package wait

import "time"

// Until polls a condition and reports whether it became true. Only a failing test waits for the whole minute.
func Until(holds func() bool) bool { return Within(time.Minute, holds) }

// Within is Until with another limit. It polls often at first and later every 20 ms. So polling does not slow down what it waits for.
func Within(limit time.Duration, holds func() bool) bool {
	pause := time.Millisecond
	for end := time.Now().Add(limit); !holds(); pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
