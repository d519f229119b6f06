//go:build !unix

package websearch

import "testing"

// processor measures nothing here.
func processor(*testing.B) (report func()) { return func() {} }
