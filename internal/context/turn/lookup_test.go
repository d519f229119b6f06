package turn

import "testing"

func TestQueries(t *testing.T) {
	l := &Lookup{Query: "high \"tide\"\nlow tide"}
	if got := l.Queries(); got != `"high \"tide\"" and "low tide"` {
		t.Error(got)
	}
}
