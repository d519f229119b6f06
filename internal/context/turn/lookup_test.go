package turn

import "testing"

func TestQueries(t *testing.T) {
	l := &Lookup{Query: "high \"tide\"\nlow tide"}
	if got := l.Queries(); got != `"high "tide"", "low tide"` {
		t.Error(got)
	}
}
