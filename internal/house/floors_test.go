package house

import (
	"fmt"
	"slices"
	"strings"
)

// Floors, from the ground up. The doors and what is said through them stand one step below the bot, which may know them.
const (
	ground = iota
	first
	second
	doors
	third
	roof
)

// floors is the plan of the house: imports go downstairs, at least one step.
var floors = map[string]int{
	"cmd/familiar": roof,
	"cmd/train":    roof,

	"internal/bot":          third,
	"internal/bot/discord":  doors,
	"internal/bot/outgoing": doors,
	"internal/bot/terminal": doors,
	"internal/bot/view":     doors,

	"internal/context/prompt":      second,
	"internal/providers/character": second,
	"internal/providers/history":   second,
	"internal/providers/websearch": second,

	"internal/search":     first,
	"internal/trace":      first,
	"internal/web/fetch":  first,
	"internal/web/reader": first,

	"characters":            ground,
	"internal/api":          ground,
	"internal/context/turn": ground,
	"internal/disk":         ground,
	"internal/house":        ground,
	"internal/linear":       ground,
	"internal/llm":          ground,
	"internal/redact":       ground,
	"internal/store":        ground,
	"internal/web/clean":    ground,
	"internal/web/guard":    ground,
	"internal/web/page":     ground,
}

// farEnds are the servers that tests play against. They know nothing of ours, and tests alone know them.
var farEnds = []string{"internal/discordtest", "internal/llm/llmtest", "internal/web/webtest"}

// allDoors are the rooms through which people talk to the bot.
var allDoors = []string{"internal/bot/discord", "internal/bot/terminal"}

// atDoors is all that a door may know of ours: what it carries and what it keeps.
var atDoors = []string{"internal/api", "internal/context/turn", "internal/redact", "internal/store"}

// keepers says who alone may import what.
var keepers = map[string][]string{
	"database/sql":                  {"internal/store", "internal/trace"},
	"flag":                          {"cmd/familiar"},
	"github.com/alecthomas/kong":    {"cmd/familiar"},
	"github.com/bwmarrin/discordgo": {"internal/bot/discord"},
	"github.com/joho/godotenv":      {"cmd/familiar"},
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
	case isFarEnd:
		return fmt.Sprintf("a far end must know nothing of ours, not even %s", target)
	case slices.Contains(farEnds, target):
		return fmt.Sprintf("%s is for tests alone", target)
	case floors[target] >= floors[r.path]:
		return fmt.Sprintf("imports go downstairs: %s is not below %s", target, r.path)
	case slices.Contains(allDoors, r.path) && !slices.Contains(atDoors, target):
		return fmt.Sprintf("a door knows only %s", strings.Join(atDoors, ", "))
	}
	return ""
}
