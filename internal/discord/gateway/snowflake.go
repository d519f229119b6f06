package gateway

import (
	"strconv"
	"strings"
	"time"
)

// Flake is an id as a number, which grows with time: milliseconds since 2015, shifted by 22 bits.
// https://discord.com/developers/docs/reference#snowflakes
type Flake uint64

// FlakeOf returns an id as a number, or 0 if it is not a number.
func FlakeOf(id string) Flake {
	n, _ := strconv.ParseUint(id, 10, 64)
	return Flake(n)
}

const epoch = 1420070400000 // the first millisecond of 2015 in Unix time

// FlakeAt returns the smallest id of a moment.
func FlakeAt(at time.Time) Flake { return Flake(max(0, at.UnixMilli()-epoch)) << 22 }

// Time returns the moment of an id.
func (f Flake) Time() time.Time { return time.UnixMilli(int64(f>>22) + epoch) }

// MarshalJSON writes a string.
func (f Flake) MarshalJSON() ([]byte, error) { return []byte(`"` + f.String() + `"`), nil }

// String returns the id as it is written.
func (f Flake) String() string { return strconv.FormatUint(uint64(f), 10) }

// UnmarshalJSON reads a string, a number or null.
func (f *Flake) UnmarshalJSON(data []byte) error {
	*f = FlakeOf(strings.Trim(string(data), `"`))
	return nil
}
