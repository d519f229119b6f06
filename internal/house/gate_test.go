package house

import (
	"go/ast"
	"slices"
	"strings"
)

// costly are the calls that begin a turn or a lookup, or ask a side model for a person. Each names the functions that may make it. A function
// with a star passes the gate itself: it must call one of gates.
var costly = map[string][]string{
	"enqueue":   {"Bot.edited*", "Bot.AnswerAgain*", "Bot.consider*", "Bot.admit", "Bot.resume", "Bot.moves"}, // admit has what arrivals let pass; the turns of the last two have begun
	"put":       {"Bot.enqueue"},
	"Lookup":    {"Bot.LookUpFor*"},
	"Missed":    {"call.catchUp*"},
	"AskSide":   {"Bot.wantsToJoin", "call.topics"}, // consider and catchUp pass the gate before
	"LookUpFor": {"Bot.LookUp", "Bot.Check", "call.answerLookup"},
}

var gates = []string{"Pass", "passed", "arrivals", "Aside", "aside"}

// checkGate lets only the functions above cause turns, and holds that arrivals and Aside pass the gate.
func checkGate(h *house, complain complainer) {
	for _, path := range []string{"internal/bot", "internal/command"} {
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
				name, called := methodName(f), callsIn(f)
				for call := range called {
					may := costly[call]
					passes := slices.ContainsFunc(gates, func(gate string) bool { return called[gate] })
					if may != nil && !slices.Contains(may, name) && !(slices.Contains(may, name+"*") && passes) {
						complain(h.at(f), name+" calls "+call+" and does not pass the gate")
					}
				}
				if (name == "Bot.arrivals" || name == "Bot.Aside") && !called["Pass"] {
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

// callsIn returns the names of the methods that a function calls. Of put and Lookup only those of lanes and of a character's lookup count.
func callsIn(f *ast.FuncDecl) map[string]bool {
	called := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				of, _ := sel.X.(*ast.SelectorExpr)
				narrow := map[string]string{"put": "lanes", "Lookup": "Lookup"}[sel.Sel.Name]
				if narrow == "" || of != nil && strings.HasSuffix(of.Sel.Name, narrow) {
					called[sel.Sel.Name] = true
				}
			}
		}
		return true
	})
	return called
}
