package llm_test

import (
	"reflect"
	"strings"
	"testing"

	"familiar/internal/llm"
)

func TestFallbacks(t *testing.T) {
	tests := []struct {
		name, script string
		text, model  string
		kind         llm.Kind
		failed       []llm.Failure
	}{
		{"first", "say one", "one", "main", "", nil},
		{"second", "when model \"main\"\nerror 404\nwhen model \"spare\"\nsay two", "two", "spare", "", []llm.Failure{{Model: "main", Kind: llm.NoModel, Status: 404}}},
		{"third", "when model \"last\"\nsay three\nwhen prompt \"\"\nheader Retry-After: 60\nerror 429", "three", "last", "",
			[]llm.Failure{{Model: "main", Kind: llm.RateLimited, Status: 429}, {Model: "spare", Kind: llm.RateLimited, Status: 429}}},
		{"empty", "when model \"main\"\nfinish stop\nwhen model \"spare\"\nsay two", "two", "spare", "", []llm.Failure{{Model: "main", Kind: llm.Empty}}},
		{"all fail", "error 404", "", "last", llm.NoModel, []llm.Failure{{Model: "main", Kind: llm.NoModel, Status: 404}, {Model: "spare", Kind: llm.NoModel, Status: 404}}},
		{"not after words", "when model \"main\"\nsay half a\nend\nwhen model \"spare\"\nsay two", "half a", "main", llm.Truncated, nil},
		{"not with a bad key", "error 401", "", "main", llm.Unauthorized, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, script(t, tt.script))
			c.Fallbacks = []string{"spare", "last"}
			a, err := c.Stream(t.Context(), hello(), func(string) {})
			if kindOf(err) != tt.kind || a.Text != tt.text || a.Model != tt.model || !reflect.DeepEqual(a.Failed, tt.failed) {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

func TestCompleteStartsOver(t *testing.T) {
	srv := script(t, "say half a\nend\nnext\nsay whole")
	a, err := connect(t, srv).Complete(t.Context(), hello())
	if err != nil || a.Text != "whole" {
		t.Errorf("%q, %v", a.Text, err)
	}
}

// A model whose template opens its thoughts is found out once; after that its thoughts are never handed out.
func TestLateThoughtsAreRemembered(t *testing.T) {
	c := connect(t, script(t, "chunk \"hm, \"\nchunk \"hm</think>\\nHi\"\nnext\nchunk \"secret \"\nchunk \"plan</think>Hi again\"\nnext\nsay no thoughts"))
	for _, want := range []string{"hm, Hi", "Hi again", "no thoughts"} {
		var said strings.Builder
		a, err := c.Stream(t.Context(), hello(), func(s string) { said.WriteString(s) })
		if err != nil || said.String() != want || !strings.HasSuffix(want, a.Text) {
			t.Errorf("said %q, text %q, %v; want %q", said.String(), a.Text, err, want)
		}
	}
}
