package house

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed plan.txt
var planText string

// planned is a room of the plan.
type planned struct {
	path, what string
	floor      int // imports go downstairs, at least one floor
}

// plan reads plan.txt: a room on each line, the top floor first, an empty line between two floors.
var plan = sync.OnceValue(func() []planned {
	floors := strings.Split(strings.TrimSpace(planText), "\n\n")
	var rooms []planned
	for n, floor := range floors {
		for line := range strings.Lines(floor) {
			path, what, _ := strings.Cut(strings.TrimSpace(line), "\t")
			rooms = append(rooms, planned{path, what, len(floors) - 1 - n})
		}
	}
	return rooms
})

// floors returns the floor of each room in the plan.
var floors = sync.OnceValue(func() map[string]int {
	byPath := map[string]int{}
	for _, r := range plan() {
		byPath[r.path] = r.floor
	}
	return byPath
})

// floorOf returns the floor of a room, and whether the plan has it. All packages of a library are one room.
func floorOf(path string) (floor int, known bool) {
	if library := libraryOf(path); library != "" {
		path = library
	}
	floor, known = floors()[path]
	return floor, known
}

// doors lead to people. They may import less than their floor would allow.
var doors = []string{"internal/discord", "internal/terminal"}

// farEnds are the servers that tests use, and other packages for tests. They import only one another and the rooms in filled. Only tests and
// drivers import them.
var farEnds = []string{"internal/test/bulk", "internal/test/discordtest", "internal/test/llmtest", "internal/test/memnet", "internal/test/packed", "internal/test/postgres", "internal/test/storetest", "internal/test/wait", "internal/test/webtest"}

// filled names the far ends that fill a room for tests and may import it.
var filled = map[string]string{"internal/test/storetest": "internal/store"}

// drivers are programs that test the real one.
var drivers = []string{"internal/test/soak"}

// libraries are folders beside the house that others may use without it. Neither their code nor their tests import anything from the rest of
// the module.
var libraries = []string{"card", "visible"}

// libraryOf returns the library that a room belongs to, or "".
func libraryOf(path string) string {
	top, _, _ := strings.Cut(path, "/")
	if slices.Contains(libraries, top) {
		return top
	}
	return ""
}

// atDoors lists the rooms that a door may import.
var atDoors = []string{"internal/api", "internal/context/turn", "internal/discord/gateway", "internal/discord/rest", "internal/store"}

// keepers lists the only rooms that may import a package.
var keepers = map[string][]string{
	"database/sql":                               {"internal/memory", "internal/store", "internal/store/engine", "internal/store/move", "internal/trace"},
	"flag":                                       {"cmd/familiar", "internal/test/soak"},
	"github.com/alecthomas/kong":                 {"cmd/evaluate", "cmd/familiar"},
	"github.com/bwmarrin/discordgo":              {"internal/discord", "internal/discord/gateway", "internal/discord/rest"},
	"github.com/jackc/pgx/v5/pgconn":             {"internal/store/engine", "internal/test/postgres"},
	"github.com/joho/godotenv":                   {"internal/doctor"},
	"github.com/modelcontextprotocol/go-sdk/mcp": {"internal/command"},
}

// checkRooms compares the rooms that exist with those in the plan.
func checkRooms(h *house, complain complainer) {
	for path := range floors() {
		if h.rooms[path] == nil {
			complain(path, "is in the plan but has no Go files")
		}
	}
	for path := range h.rooms {
		if _, known := floorOf(path); !known && !slices.Contains(farEnds, path) {
			complain(path, "is not in the plan: give it a floor in internal/house/plan.txt")
		}
	}
}

// checkImports checks every import of every file.
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

// refuse returns why a file must not import a package, or "". Tests may import upwards: they test a room from where it is used.
func refuse(h *house, r *room, s *source, path string) string {
	if path == "C" {
		return "cgo: the program must build without a C compiler"
	}
	isFarEnd := slices.Contains(farEnds, r.path)
	if by := keepers[path]; by != nil && !s.test && !isFarEnd && !slices.Contains(by, r.path) {
		return fmt.Sprintf("%s is for %s alone", path, strings.Join(by, " and "))
	}
	target, ours := strings.CutPrefix(path, h.module+"/")
	floor, _ := floorOf(r.path)
	below, _ := floorOf(target)
	switch library := libraryOf(r.path); {
	case ours && library != "" && libraryOf(target) != library:
		return fmt.Sprintf("the library %s must know nothing of ours but itself, not even %s", library, target)
	case !ours || s.test || library != "":
		return ""
	case isFarEnd && (slices.Contains(farEnds, target) || filled[r.path] == target):
		return ""
	case isFarEnd:
		return fmt.Sprintf("a far end must know nothing of ours, not even %s", target)
	case slices.Contains(farEnds, target) && slices.Contains(drivers, r.path):
		return ""
	case slices.Contains(farEnds, target):
		return fmt.Sprintf("%s is for tests alone", target)
	case below >= floor:
		return fmt.Sprintf("imports go downstairs: %s is not below %s", target, r.path)
	case slices.Contains(doors, r.path) && !slices.Contains(atDoors, target):
		return fmt.Sprintf("a door knows only %s", strings.Join(atDoors, ", "))
	}
	return ""
}
