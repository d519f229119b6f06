package calendar

import (
	"cmp"
	"time"
)

// In is a time as it is told in a zone; nil: in UTC.
func In(at time.Time, zone *time.Location) time.Time { return at.In(cmp.Or(zone, time.UTC)) }

// Now is the time of a clock as it is told in a zone: nil, the world's in UTC.
func Now(clock func() time.Time, zone *time.Location) time.Time {
	if clock == nil {
		clock = time.Now
	}
	return In(clock(), zone)
}
