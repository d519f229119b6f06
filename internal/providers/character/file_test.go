package character

import "testing"

// TestSetLists checks that only the given keys change.
func TestSetLists(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"an empty file": {"", "\n[web]\ndeny = [\"a.example\"]\n\n[web.trusted]\nnews = [\"b.example\", \"c.example\"]\n"},
		"tables that are there": {
			"name = \"A\" # who\n[web] # the web\n# none\nallow = []\n[web.trusted]\n[modes.voice]\ntotal = 900",
			"name = \"A\" # who\n[web] # the web\ndeny = [\"a.example\"]\n# none\nallow = []\n[web.trusted]\nnews = [\"b.example\", \"c.example\"]\n[modes.voice]\ntotal = 900\n",
		},
		"lists that are there": {
			"[web]\n  deny = [ # why\n    \"old.example\",\n  ] # behind\n[web.trusted]\nnews=[\"a.b\"]\r\ndocs = [\"go.dev\"]\n",
			"[web]\n  deny = [\"a.example\"] # behind\n[web.trusted]\nnews= [\"b.example\", \"c.example\"]\r\ndocs = [\"go.dev\"]\n",
		},
		"dotted keys": {
			"web.deny = []\nweb.trusted.news = []\n",
			"web.deny = [\"a.example\"]\nweb.trusted.news = [\"b.example\", \"c.example\"]\n",
		},
		"tables in a line": {
			"web = {deny = [], trusted = {news = [\"x.y\"]}}\n",
			"web = {deny = [\"a.example\"], trusted = {news = [\"b.example\", \"c.example\"]}}\n",
		},
	} {
		if got := SetLists(tt.text, map[string][]string{"web.deny": {"a.example"}, "web.trusted.news": {"b.example", "c.example"}}); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}
