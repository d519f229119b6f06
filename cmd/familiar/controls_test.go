package main

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// controls are the keys under which an operator bounds a character's lookups, each with what it changes.
var controls = map[string]struct{ toml, does string }{
	"none": {"", `
		heard general
		has [1] fast.example.org
		has 4,321 metres
		fetched https://fast.example.org/mount 1
		fetched https://fast.example.org/guide 1
		fetched https://survey.example.net/mount 1
		recorded "quote":"The height of Mount Example was measured
		asked 1`},
	"enabled": {"enabled = false", `
		heard general
		has web is switched off here
		asked 0`},
	"allow": {`allow = ["example.net"]`, `
		heard general
		fetched https://fast.example.org/mount 0
		fetched https://survey.example.net/mount 1`},
	"deny": {`deny = ["example.org"]`, `
		heard general
		fetched https://fast.example.org/mount 0
		fetched https://survey.example.net/mount 1`},
	"denied_topics": {`denied_topics = ["mount example"]`, `
		heard general
		has web is switched off here (for this topic)
		asked 0`},
	"block_role": {`block_role = "system"`, `
		heard general
		command ana context
		press Prompt
		has ── system · from the web`},
	"block_role of user": {"", `
		heard general
		command ana context
		press Prompt
		has ── user · from the web`},
	"block_bytes": {"block_bytes = 1024", `
		heard general
		recorded "text":"Mount Example is 4,321 metres high
		unrecorded "quote":"The height of Mount Example was measured`},
	"pages": {"pages = 1", `
		heard general
		fetched https://fast.example.org/mount 1
		fetched https://survey.example.net/mount 0`},
	"no pages": {"pages = 0", `
		heard general
		has A mountain that is 4,321 metres high.
		has I have not read the pages themselves
		fetched https://fast.example.org/mount 0
		fetched https://survey.example.net/mount 0`},
	"per_domain": {"per_domain = 1", `
		heard general
		fetched https://fast.example.org/mount 1
		fetched https://fast.example.org/guide 0
		fetched https://survey.example.net/mount 1`},
	"backends": {`backends = ["wikipedia"]`, `
		heard general
		asked 0
		recorded "backend":"wikipedia"
		unrecorded "backend":"searxng"`},
	"bare": {"[reply]\nbuttons = false", `
		heard general
		buttons general -
		has -# [1] Mount Example
		has <https://fast.example.org/mount>
		command ana mode buttons=on
		has switched the buttons off everywhere
		command ana mode
		has buttons are off`},
	"trusted": {"[web.trusted]\ngeneral = [\"survey.example.net\"]", `
		heard general
		has [1] survey.example.net`},
	"only": {"[web.trusted]\ngeneral = [\"survey.example.net\"]\nonly = [\"general\"]", `
		heard general
		fetched https://fast.example.org/mount 0
		fetched https://survey.example.net/mount 1`},
	"deadline": {`deadline = "1s"`, `
		heard general
		say general ana @familiar look up the height of the Slow Peak
		heard general
		has no answer in time`},
	"queries": {"queries = 1", `
		heard general
		asked 1
		say general ana @familiar look up the Xyzzyplugh Prize of 1723
		heard general
		asked 2`},
	"two queries": {"queries = 2", `
		heard general
		asked 1
		say general ana @familiar look up the Xyzzyplugh Prize of 1723
		heard general
		asked 3`},
}

const controlledWeb = `
-- search --
when mount example
Mount Example | https://fast.example.org/mount | A mountain that is 4,321 metres high.
A guide | https://fast.example.org/guide | A guide.
The survey | https://survey.example.net/mount | A survey.
when slow peak
hang
-- web/fast.example.org/mount.head --
Content-Type: text/html; charset=utf-8
-- web/fast.example.org/mount --
<html><head><title>Mount Example</title></head><body><article><h1>Mount Example</h1><p>Mount Example is 4,321 metres high, which makes it the highest mountain of the Sample Range. It was first climbed in 1899 by a party of three from the valley below.</p></article></body></html>
-- web/fast.example.org/guide.head --
Content-Type: text/html; charset=utf-8
-- web/fast.example.org/guide --
<html><head><title>A guide</title></head><body><article><h1>A guide</h1><p>A guide to the climb of Mount Example, which is high: take water, a rope and a friend, and begin before the sun is up.</p></article></body></html>
-- web/survey.example.net/mount.head --
Content-Type: text/html; charset=utf-8
-- web/survey.example.net/mount --
<html><head><title>The survey</title></head><body><article><h1>The survey</h1><p>The height of Mount Example was measured again in 2019 with satellite receivers, and the figure of 4,321 metres was confirmed to within half a metre.</p></article></body></html>
`

// TestControls sets each key alone and sees that it bites. caps.txtar and capsperson.txtar do that for the caps of a channel and a person.
// lookupoff.txtar does it for the web as a whole.
func TestControls(t *testing.T) {
	t.Parallel()
	for name, tt := range controls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			character := "-- characters/sage/character.toml --\nname = \"Sage\"\n[web]\n" + tt.toml + "\n-- characters/sage/persona.md --\nYou are Sage.\n"
			c := newConversation(t, txtar.Parse([]byte(character+controlledWeb[1:])))
			c.do(name, "start")
			c.do(name, "say general ana @familiar how high is Mount Example?")
			for line := range strings.Lines(strings.TrimSpace(tt.does)) {
				c.do(name, strings.TrimSpace(line))
			}
			c.stop()
		})
	}
}
