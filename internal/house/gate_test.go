package house

import (
	"go/ast"
	"slices"
	"strings"
)

// costly are the calls that begin a turn or a lookup. Others ask a model or a service on the web. They are looked for in the rooms through
// which people come in. Each names the functions that may make it. They are a part of a turn or lookup that has passed the gate. Those with
// a star pass it themselves, by calling one of gates. People at the machine itself pass no gate: see byHand.
var costly = map[string][]string{
	"enqueue":   {"Bot.edited*", "Bot.AnswerAgain*", "Bot.consider*", "Bot.greetIn*", "Bot.admit", "Bot.resume", "Bot.moves"}, // admit has what arrivals let pass; the turns of the last two have begun
	"put":       {"Bot.enqueue"},
	"Lookup":    {"lookupOrder.carryOut*"},
	"Missed":    {"call.catchUp*"},
	"AskModel":  {"Bot.wantsToJoin", "call.topics", "see", "Bot.moodOf"}, // consider, catchUp, carryOut and the turn pass the gate before
	"carryOut":  {"lookupOrder.forMessage", "call.answerLookup"},
	"Stream":    {"Bot.answer"},
	"Complete":  {"Bot.process", "Bot.AskModel"},
	"Ask":       {"Bot.askOrders"},
	"AskAll":    {"Bot.answer", "toolCall.decide"},
	"speak":     {"Bot.SayAloud*", "Bot.SayWords*"},
	"Find":      {"toolCall.search*"},
	"Read":      {"App.Read", "toolCall.readPage"}, // the first is asked by a search
	"readPage":  {"toolCall.fetch*", "toolCall.readPages"},
	"readPages": {"toolCall.onPages"},
	"decide":    {"toolCall.onPages"},
	"onPages":   {"toolCall.checkPages*"},
}

// byHand asks a model or the web without a turn. The operator does so at a terminal or in the console.
var byHand = map[string][]string{"Complete": {"replay.answer"}, "Find": {"searchRecorded"}, "Read": {"fetchCommand.read"}}

var gates = []string{"Pass", "passed", "arrivals", "Aside", "aside", "onWeb"}

// entrances are the rooms through which turns and lookups come in, and what holds them together.
var entrances = []string{"internal/bot", "internal/command", "internal/mcp", "internal/console", "internal/app", "internal/terminal", "internal/view", "cmd/familiar"}

// checkGate lets only the functions above cause turns, and holds that arrivals, Aside and onWeb pass the gate.
func checkGate(h *house, complain complainer) {
	for _, path := range entrances {
		r := h.rooms[path]
		if r == nil {
			continue
		}
		for _, s := range r.sources {
			if s.test {
				continue
			}
			for _, d := range s.syntax.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				name, called := methodName(f), callsIn(f, s.syntax.Imports)
				passes := slices.ContainsFunc(gates, func(gate string) bool { return called[gate] })
				for call := range called {
					may := costly[call]
					if path == "cmd/familiar" || path == "internal/app" {
						may = slices.Concat(may, byHand[call])
					}
					if costly[call] != nil && !slices.Contains(may, name) && !(slices.Contains(may, name+"*") && passes) {
						complain(h.at(f), name+" calls "+call+" and does not pass the gate")
					}
				}
				if (name == "Bot.arrivals" || name == "Bot.Aside") && !called["Pass"] || name == "toolCall.onWeb" && !called["Aside"] {
					complain(h.at(f), name+" does not pass the gate")
				}
			}
		}
	}
}

// methodName returns Type.Method, or the name of a function.
func methodName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if named, ok := of.(*ast.Ident); ok {
		return named.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// ofWhat says of what a call with a common name counts, by the end of the field's name.
var ofWhat = map[string][]string{"put": {"lanes"}, "Lookup": {"Lookup"}, "Ask": {"Side", "Model"}, "Find": {"Search", "Engine"}, "Read": {"Reader"}}

// callsIn returns the names of the methods that a function of a file with these imports calls.
func callsIn(f *ast.FuncDecl, imports []*ast.ImportSpec) map[string]bool {
	called := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				of, _ := sel.X.(*ast.SelectorExpr)
				room, _ := sel.X.(*ast.Ident)
				counts := room == nil || !slices.ContainsFunc(imports, func(i *ast.ImportSpec) bool {
					return strings.HasSuffix(strings.Trim(i.Path.Value, `"`), "/"+room.Name) // a function of that room
				})
				if fields := ofWhat[sel.Sel.Name]; fields != nil {
					counts = of != nil && slices.ContainsFunc(fields, func(field string) bool { return strings.HasSuffix(of.Sel.Name, field) })
				}
				if counts {
					called[sel.Sel.Name] = true
				}
			}
		}
		return true
	})
	return called
}
