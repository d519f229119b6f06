package house

import (
	"fmt"
	"slices"
	"strings"
)

// plan is the plan of the house, from the ground up: imports go downstairs, at least one floor.
var plan = [][]string{
	{"characters", "internal/catalogue", "internal/context/turn", "internal/disk", "internal/flight", "internal/footprint", "internal/house", "internal/linear", "internal/lru", "internal/character/macro", "internal/text/confusable", "internal/text/jsregexp", "internal/text/lang", "internal/text/lazyregexp", "internal/web/page/dom", "internal/web/page/visible/css"},
	{
		"internal/api", "internal/character/lorebook", "internal/character/rewrite", "internal/llm", "internal/metrics", "internal/otlp", "internal/redact", "internal/text", "internal/web/clean", "internal/web/guard",
		"internal/web/page/charset", "internal/web/page/meta", "internal/web/page/visible/cascade", "internal/web/picture",
	},
	{"internal/store"},
	{"internal/character/card", "internal/doctor", "internal/embedding", "internal/llm/cure", "internal/memory", "internal/memory/archive", "internal/memory/telling", "internal/transcribe", "internal/web/page/visible", "internal/web/seal"},
	{"internal/text/calendar", "internal/trace", "internal/web/fetch", "internal/web/page"},
	{"internal/lookup/claim", "internal/lookup/framing", "internal/lookup/quote", "internal/lookup/utterance", "internal/memory/ranking", "internal/search", "internal/web/reader"},
	{"internal/character/lore", "internal/lookup/conflict", "internal/lookup/evidence", "internal/lookup/factcheck", "internal/lookup/need", "internal/lookup/privacy", "internal/lookup/recall", "internal/lookup/verifier", "internal/memory/attest", "internal/memory/remember", "internal/search/backends", "internal/web/read"},
	{"internal/lookup/followup", "internal/memory/writer"},
	{"internal/lookup/question"},
	{"internal/context/prompt", "internal/providers/attachment", "internal/providers/character", "internal/providers/history", "internal/providers/memory", "internal/providers/server", "internal/providers/websearch"},
	{"internal/bot/discord", "internal/bot/outgoing", "internal/bot/terminal", "internal/bot/view", "internal/console"},
	{"cmd/evaluate/train", "internal/bot"},
	{"cmd/evaluate", "cmd/familiar", "internal/soak", "internal/web/page/visible/judge"},
}

// floors are the rooms of the plan with the floors they stand on.
var floors = func() map[string]int {
	floors := map[string]int{}
	for n, rooms := range plan {
		for _, path := range rooms {
			floors[path] = n
		}
	}
	return floors
}()

// doors lead to people. They know less than their floor would allow.
var doors = []string{"internal/bot/discord", "internal/bot/terminal"}

// farEnds are the servers that tests play against, and what else tests alone need. They know nothing of ours but one another and the
// room that they stand in, and tests and drivers alone know them.
var farEnds = []string{"internal/discordtest", "internal/llm/llmtest", "internal/memnet", "internal/store/storetest", "internal/web/webtest"}

// drivers are programs that test the real one.
var drivers = []string{"internal/soak"}

// atDoors is all that a door may know of ours: what it carries and what it keeps.
var atDoors = []string{"internal/api", "internal/context/turn", "internal/redact", "internal/store"}

// keepers says who alone may import what.
var keepers = map[string][]string{
	"database/sql":                               {"internal/store", "internal/trace"},
	"flag":                                       {"cmd/familiar", "internal/soak"},
	"github.com/alecthomas/kong":                 {"cmd/evaluate", "cmd/familiar"},
	"github.com/bwmarrin/discordgo":              {"internal/bot/discord"},
	"github.com/joho/godotenv":                   {"cmd/familiar"},
	"github.com/modelcontextprotocol/go-sdk/mcp": {"cmd/familiar"},

	"github.com/prometheus/client_golang/prometheus":            {"internal/metrics"},
	"github.com/prometheus/client_golang/prometheus/collectors": {"internal/metrics"},
	"github.com/prometheus/client_golang/prometheus/promhttp":   {"internal/metrics"},
}

// checkRooms compares the rooms that there are with those in the plan.
func checkRooms(h *house, complain complainer) {
	for path := range floors {
		if h.rooms[path] == nil {
			complain(path, "is in the plan but has no Go files")
		}
	}
	for path := range h.rooms {
		if _, planned := floors[path]; !planned && !slices.Contains(farEnds, path) {
			complain(path, "is not in the plan: give it a floor in internal/house/floors_test.go")
		}
	}
}

// checkImports looks at every import of every file.
func checkImports(h *house, complain complainer) {
	for _, r := range h.rooms {
		for _, s := range r.sources {
			for _, spec := range s.syntax.Imports {
				if why := refuse(h, r, s, strings.Trim(spec.Path.Value, "`\"")); why != "" {
					complain(h.at(spec), why)
				}
				if spec.Name != nil && spec.Name.Name == "." {
					complain(h.at(spec), "dot import: names must say where they come from")
				}
			}
		}
	}
}

// refuse says why a file must not import something, or nothing. Tests may go upstairs: they look at a room
// from where it is used.
func refuse(h *house, r *room, s *source, path string) string {
	if path == "C" {
		return "cgo: the program must build without a C compiler"
	}
	isFarEnd := slices.Contains(farEnds, r.path)
	if by := keepers[path]; by != nil && !s.test && !isFarEnd && !slices.Contains(by, r.path) {
		return fmt.Sprintf("%s is for %s alone", path, strings.Join(by, " and "))
	}
	target, ours := strings.CutPrefix(path, h.module+"/")
	switch {
	case !ours || s.test:
		return ""
	case isFarEnd && (slices.Contains(farEnds, target) || strings.HasPrefix(r.path, target+"/")):
		return ""
	case isFarEnd:
		return fmt.Sprintf("a far end must know nothing of ours, not even %s", target)
	case slices.Contains(farEnds, target) && slices.Contains(drivers, r.path):
		return ""
	case slices.Contains(farEnds, target):
		return fmt.Sprintf("%s is for tests alone", target)
	case floors[target] >= floors[r.path]:
		return fmt.Sprintf("imports go downstairs: %s is not below %s", target, r.path)
	case slices.Contains(doors, r.path) && !slices.Contains(atDoors, target):
		return fmt.Sprintf("a door knows only %s", strings.Join(atDoors, ", "))
	}
	return ""
}
