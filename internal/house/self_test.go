package house

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Each rule is tested with sources that it must refuse, on the lines marked with "// no". It is tested with sources that it must accept,
// too.
func TestRulesCanFail(t *testing.T) {
	tests := []struct {
		name   string
		check  func(*house, complainer)
		source string
	}{{
		name: "floors", check: checkImports, source: `
-- internal/search/a.go --
package search

import (
	"fmt"
	"context"
	"familiar/internal/api"
	"familiar/internal/bot"  // no
	_ "familiar/internal/web/read" // no
	"familiar/internal/unplanned"
)
-- internal/search/a_test.go --
package search_test

import "familiar/internal/bot"
-- internal/api/a.go --
package api

import "familiar/internal/store" // no
-- cmd/familiar/main.go --
package main

import "familiar/internal/bot"
-- internal/bot/bot.go --
package bot

import "familiar/internal/discord"
`}, {
		name: "gate", check: checkGate, source: `
-- internal/bot/a.go --
package bot

func (b *Bot) edited() { b.Gate.Pass(); b.enqueue() }
func (b *Bot) AnswerAgain() { b.enqueue() } // no
func (b *Bot) barge() { b.Gate.Pass(); b.enqueue() } // no
func barge(b *Bot) { b.enqueue() } // no
func (b *Bot) Aside() { look() } // no
func (l *lane) put() { l.waiting.put() }
func (b *Bot) hurry() { b.lanes.put() } // no
-- internal/command/a.go --
package command

func (o lookupOrder) carryOut() { b.Aside(func() { actor.Lookup.Lookup() }) }
func (c *call) lookUp() { o.carryOut() } // no
func (c *call) answerLookup() { o.carryOut() }
-- internal/command/tools.go --
package command

func (c *toolCall) search() { c.onWeb(func() { c.Search.Find() }) }
func (c *toolCall) peek() { c.Search.Find() } // no
func (c *toolCall) fetch() { c.readPage() } // no
-- internal/console/a.go --
package console

import "familiar/internal/command"

func (k *Console) compare() { m := k.actor(); m.Model.Complete() } // no
func (k *Console) try(b *bot.Bot) { side := b.Side; side.Stream() } // no
func (k *Console) shown() { command.Complete(); k.Traces.Find() }
-- cmd/familiar/a.go --
package main

func (r *replay) answer() { r.actor.Model.Complete() }
func (r *replay) again() { r.actor.Model.Complete() } // no
`}, {
		name: "doors", check: checkImports, source: `
-- internal/discord/a.go --
package discord

import (
	"fmt"
	"familiar/internal/api"
	"familiar/internal/bot" // no
	"familiar/internal/terminal" // no
	"familiar/internal/search" // no
	"familiar/internal/context/turn"
	"github.com/bwmarrin/discordgo"
)
`}, {
		name: "far ends", check: checkImports, source: `
-- internal/test/webtest/a.go --
package webtest

import (
	"fmt"
	"net/http"
	"familiar/internal/api" // no
)
-- internal/web/fetch/a.go --
package fetch

import "familiar/internal/test/webtest" // no
-- internal/web/fetch/a_test.go --
package fetch

import "familiar/internal/test/webtest"
-- internal/test/soak/a.go --
package main

import (
	"familiar/internal/test/discordtest"
	"familiar/cmd/familiar" // no
)
`}, {
		name: "libraries", check: checkImports, source: `
-- visible/a.go --
package visible

import (
	"familiar/visible/dom"
	"familiar/card" // no
	"familiar/internal/cache" // no
)
-- visible/a_test.go --
package visible

import (
	"familiar/visible/dom"
	"familiar/internal/text" // no
)
-- internal/web/page/a.go --
package page

import "familiar/visible"
`}, {
		name: "keepers, cgo and dots", check: checkImports, source: `
-- internal/search/a.go --
package search

import "C" // no
import "flag" // no
import "database/sql" // no
import "github.com/bwmarrin/discordgo" // no
import . "strings" // no
-- internal/search/a_test.go --
package search

import "flag"
-- internal/test/discordtest/a.go --
package discordtest

import "github.com/bwmarrin/discordgo"
-- internal/store/a.go --
package store

import "database/sql"
`}, {
		name: "names", check: checkNames, source: `
-- internal/util/a.go --
package util // no
-- internal/util/a_test.go --
package util_test // no
-- internal/manage/a.go --
package manage
`}, {
		name: "init", check: checkInit, source: `
-- internal/search/a.go --
package search

type t struct{}

func (t) init() {}

func initialise() {}

func init() {} // no
-- internal/search/a_test.go --
package search

func init() {} // no
`}, {
		name: "clients", check: checkClients, source: `
-- internal/search/a.go --
package search

import (
	"fmt"
	"net"
	web "net/http"
	"crypto/tls"
	"github.com/gorilla/websocket"
)

type engine struct {
	http *web.Client
	owned web.Client // no
}

func (e *engine) copy() *web.Client { c := *e.http; return &c }

var a = &web.Client{} // no
var b = new(web.Transport) // no
var c = web.DefaultClient // no
var d, _ = web.Get("https://example.org") // no
var e, _ = net.Dial("tcp", "example.org:80") // no
var f = net.Dialer{} // no
var g = websocket.Dialer{} // no
var h = websocket.DefaultDialer // no
var i = tls.DialWithDialer // no
var j = &web.Client{Transport: nil} // no
var k = &web.Client{Transport: x} // no

func shadowed(web, net client) {
	web.Get("https://example.org")
	net.Dial("tcp", "example.org:80")
}

func request() (*web.Request, web.Header, net.IP)
-- internal/search/a_test.go --
package search

import "net/http"

var c = http.DefaultClient
-- internal/llm/a.go --
package llm

import "net/http"

func wrapped(c *http.Client) *http.Client {
	return &http.Client{Transport: wrap{c.Transport}}
}

func own() *http.Client {
	return &http.Client{} // no
}

func direct() *http.Client {
	return &http.Client{Transport: nil} // no
}
-- internal/web/fetch/a.go --
package fetch

import (
	"fmt"
	"net/http"
	"github.com/gorilla/websocket"
)

var c = &http.Client{}
var d = websocket.Dialer{} // no
-- internal/discord/gateway/a.go --
package gateway

import (
	"fmt"
	"net"
	"github.com/gorilla/websocket"
)

var c = websocket.Dialer{}
var d = net.Dialer{} // no
-- internal/test/llmtest/a.go --
package llmtest

import "net/http"

var c = http.DefaultClient
`}, {
		name: "environment", check: checkEnvironment, source: `
-- internal/search/a.go --
package search

import "os"

var a = os.Getenv("A") // no
var b, _ = os.LookupEnv("B") // no
var c = os.Args // no
var d, _ = os.ReadFile("d")
-- internal/search/a_test.go --
package search

import "os"

var a = os.Getenv("A")
-- cmd/familiar/main.go --
package main

import "os"

var a = os.Getenv("A")
`}, {
		name: "state", check: checkState, source: `
-- internal/search/a.go --
package search

import (
	"fmt"
	"sync"
	"sync/atomic"
)

var table = map[string]int{"a": 1}
var list []int
var point struct{ x int }
var total int
var mu sync.Mutex // no
var n atomic.Int64 // no
var p atomic.Pointer[int] // no
var cache = sync.Map{} // no
var once = sync.OnceValue(func() int { return 1 })

func change() {
	table["b"] = 2 // no
	list = append(list, 1) // no
	list[0]++ // no
	(point).x = 1 // no
	total += 1 // no
	delete(table, "a") // no
	clear(list[1:]) // no
	for total = range list { // no
	}
}

func fine(point *struct{ x int }) {
	table := map[string]int{}
	table["b"] = 2
	total, list := 1, []int{}
	total++
	list[0] = total
	point.x = 1
	delete(table, "a")
	var mu sync.Mutex
	mu.Lock()
}
-- internal/search/b.go --
package search

func elsewhere() { total = 3 } // no
-- internal/search/a_test.go --
package search

func reset() { total = 0 }
`}, {
		name: "methods", check: checkMethods, source: `
-- internal/store/a.go --
package store

type Store struct{}

` + strings.Repeat("func (Store) Each() {}\n", mostMethods-1) + `
func (s *Store) own() {}
-- internal/store/b.go --
package store

func (s *Store) Last() {}
func (s *Store) Excess() {} // no
`}, {
		name: "sentences", check: checkSentences, source: `
-- internal/store/a.go --
package store // a b c d e f g h i j k l m n o p q r s t. A second sentence.

// a b c d e f g h i j k l m n o p q r s t // no
var a int

// One sentence with "a stop." and 5 more words. Another one — with a dash — and a list:
//   - a b c d e f g h i j
//   - a b c d e f g h i j
//
//	a b c d e f g h i j k l m n o p q r s t u v w x y z
var b int
-- internal/store/a_test.go --
package store

func f() {} // a b c d e f g h i j k l m n o p q r s t u. So. // no
`}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys, want := synthetic(tt.source)
			var got []string
			tt.check(read(t, fsys), func(where, _ string) { got = append(got, where) })
			slices.Sort(got)
			slices.Sort(want)
			if d := cmp.Diff(want, slices.Compact(got)); d != "" {
				t.Errorf("refused lines (-want +got):\n%s", d)
			}
		})
	}
}

// synthetic returns a module with these sources, and the marked lines.
func synthetic(source string) (fsys fstest.MapFS, marked []string) {
	fsys = fstest.MapFS{"go.mod": {Data: []byte("module familiar\n")}}
	for _, f := range txtar.Parse([]byte(source)).Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
		n := 0
		for line := range strings.Lines(string(f.Data)) {
			if n++; strings.HasSuffix(strings.TrimSpace(line), "// no") {
				marked = append(marked, fmt.Sprintf("%s:%d", f.Name, n))
			}
		}
	}
	return fsys, marked
}

func TestRooms(t *testing.T) {
	fsys, _ := synthetic(`
-- internal/search/a.go --
package search
-- internal/cellar/a.go --
package cellar
-- internal/test/discordtest/a.go --
package discordtest
-- internal/search/testdata/src/a.go --
package src
-- tools/go.mod --
module tools
-- tools/lint/a.go --
package lint
-- .hidden/a.go --
package hidden
`)
	var got []string
	checkRooms(read(t, fsys), func(where, _ string) { got = append(got, where) })
	for room, refused := range map[string]bool{
		"internal/cellar": true, // not planned
		"internal/trace":  true, // planned and empty
		"internal/search": false, "internal/test/discordtest": false,
		"internal/search/testdata/src": false, "tools/lint": false, ".hidden": false,
	} {
		if slices.Contains(got, room) != refused {
			t.Errorf("%s: refused %v, want %v", room, !refused, refused)
		}
	}
}
