package view

import "testing"

func TestQueries(t *testing.T) {
	if got := Queries("high \"tide\"\nlow tide"); got != `"high \"tide\"" and "low tide"` {
		t.Error(got)
	}
}
