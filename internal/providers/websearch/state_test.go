package websearch

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// TestSnippetsAreCalledThat checks that snippets of unread pages are called snippets. If they do not answer, the lookup
// has failed.
func TestSnippetsAreCalledThat(t *testing.T) {
	f := &finder{hits: hits("https://gone.org/everest", "https://robots.org/everest")}
	f.hits[0].Snippet = "The height of Mount Everest is 8,849 metres above the sea."
	l := newWorld(t, f).lookup(t, ask(heightQuestion))
	text := unmarked(l.Block)
	for _, want := range []string{"Web lookup: found. 0 of 2 pages read", "No page was read: these are only the few words", "via finder snippet", `pages="0/2"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the block does not say %q:\n%s", want, text)
		}
	}
	f.hits[0].Snippet = "a, b, c, d | 1 | 2 | 3 | -"
	l = newWorld(t, f).lookup(t, ask(heightQuestion))
	if l.State != turn.LookupFailed || l.Failure != "unreadable" || !strings.Contains(unmarked(l.Block), "failed (no page could be read)") {
		t.Errorf("%s, %s:\n%s", l.State, l.Failure, unmarked(l.Block))
	}
}

// TestEveryFailureIsTold checks that the model is told each failure of the search without a service's name. The record names the query of
// each.
func TestEveryFailureIsTold(t *testing.T) {
	w := newWorld(t, &finder{err: &search.Error{Backend: "finder", Code: turn.CodeTimeout}})
	other := namedFinder{"seeker", &finder{err: &search.Error{Backend: "seeker", Code: turn.CodeBlocked}}}
	w.Search.Backends = append(w.Search.Backends, other)
	l := w.lookup(t, ask(heightQuestion))
	if want := "failed (the search service was too slow; the search service refuses programs)"; !strings.Contains(l.Block, want) || strings.Contains(l.Block, "seeker") {
		t.Errorf("the model is told %q", l.Block)
	}
	w = newWorld(t, &finder{})
	w.Search.Backends = append(w.Search.Backends, namedFinder{"seeker", &finder{}})
	l = w.lookup(t, ask("look up the height of the Xyzzyplugh Peak in 1723"))
	var asked []int
	for _, a := range l.Asked {
		asked = append(asked, a.Query)
	}
	if n := strings.Count(l.Query, "\n") + 1; n != 2 || len(asked) != 4 || asked[1] != 1 || asked[2] != 2 {
		t.Errorf("%d queries, asked %v", n, asked)
	}
}

// namedFinder is a finder with another name.
type namedFinder struct {
	name string
	*finder
}

func (f namedFinder) Name() string { return f.name }
