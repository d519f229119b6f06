package search

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestQueryKnowsNobody: a backend can tell no more than it sees. A field added here is one more thing that
// leaves the machine.
func TestQueryKnowsNobody(t *testing.T) {
	full := Query{NoCache: true, Limit: 5, PerMinute: 30, Include: []string{"a.org"}, Exclude: []string{"b.org"}, Backends: []string{"x"}}
	all := reflect.ValueOf(&full).Elem()
	for i := range all.NumField() {
		switch f := all.Field(i); {
		case f.Kind() == reflect.String:
			f.SetString("word")
		case f.IsZero():
			t.Errorf("give %s a value here", all.Type().Field(i).Name)
		}
	}
	var fields []string
	seen := full.forBackend()
	for f, value := range reflect.ValueOf(seen).Fields() {
		if !value.IsZero() {
			fields = append(fields, f.Name)
		}
	}
	want := []string{"Text", "Intent", "Depth", "Safe", "Language", "Fresh", "Place", "Limit", "Include", "Exclude"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("what a backend sees of a query (-want +got):\n%s", diff)
	}
}
