package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// checkNames refuses package names that say nothing.
func checkNames(h *house, complain complainer) {
	vague := []string{"util", "utils", "common", "helper", "helpers", "type", "types", "manager", "managers", "misc"}
	for _, r := range h.rooms {
		for _, s := range r.sources {
			if slices.Contains(vague, strings.TrimSuffix(s.syntax.Name.Name, "_test")) {
				complain(h.at(s.syntax.Name), "package "+s.syntax.Name.Name+": name it for what it does")
			}
		}
	}
}

// checkInit refuses init functions.
func checkInit(h *house, complain complainer) {
	for _, r := range h.rooms {
		for _, s := range r.sources {
			for _, d := range s.syntax.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					complain(h.at(f), "func init: whoever needs this work must call it")
				}
			}
		}
	}
}

// dialling lists what opens connections, by package. Pointers to the types may be mentioned: another room made what they point at.
var dialling = map[string][]string{
	"net": {
		"Dialer", "Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Resolver", "DefaultResolver",
		"LookupHost", "LookupIP", "LookupAddr", "LookupCNAME", "LookupMX", "LookupNS", "LookupTXT", "LookupSRV",
	},
	"net/http": {
		"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm",
	},
	"crypto/tls":                   {"Dialer", "Dial", "DialWithDialer", "Client"},
	"golang.org/x/net/websocket":   {"Dial", "DialConfig"},
	"golang.org/x/net/proxy":       {"Dial", "FromEnvironment", "SOCKS5"},
	"github.com/gorilla/websocket": {"Dialer", "DefaultDialer", "NewClient"},
}

// mayDial lists the rooms with a door to the network, and the package that each uses.
var mayDial = map[string][]string{
	"internal/api":             {"net", "net/http", "crypto/tls"},
	"internal/discord/gateway": {"github.com/gorilla/websocket"},
	"internal/web/fetch":       {"net", "net/http", "crypto/tls"},
}

// mayWrap lists the rooms that may wrap the transport of a client that they received. http.Client{Transport: …} is a copy that still dials
// through the wrapped one.
var mayWrap = []string{"internal/llm"}

// checkClients refuses connections outside the two doors of the house. One is for services that the operator chose. The guarded one is for
// everything else.
func checkClients(h *house, complain complainer) {
	for _, r := range h.rooms {
		if slices.Contains(farEnds, r.path) {
			continue
		}
		_, info := h.names(r)
		for _, s := range r.sources {
			if s.test {
				continue
			}
			allowed := pointers(s.syntax)
			if slices.Contains(mayWrap, r.path) {
				wraps(s.syntax, allowed)
			}
			ast.Inspect(s.syntax, func(n ast.Node) bool {
				if pkg, name := selected(info, n); slices.Contains(dialling[pkg], name) &&
					!allowed[n] && !slices.Contains(mayDial[r.path], pkg) {
					complain(h.at(n), fmt.Sprintf("%s.%s: connections are made by internal/api and internal/web/fetch alone", pkg, name))
				}
				return true
			})
		}
	}
}

// pointers collects the selectors that are pointed at: *http.Client. A dereference looks the same, but needs a value that another room made.
func pointers(f *ast.File) map[ast.Node]bool {
	found := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if star, ok := n.(*ast.StarExpr); ok {
			found[star.X] = true
		}
		return true
	})
	return found
}

// wraps adds the types of literals that set a Transport.
func wraps(f *ast.File, found map[ast.Node]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if ok && isName(kv.Key, "Transport") && !isName(kv.Value, "nil") {
				found[lit.Type] = true
			}
		}
		return true
	})
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// selected returns the package and the name of a selector such as http.Get, or "".
func selected(info *types.Info, n ast.Node) (pkg, name string) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	if p, ok := info.Uses[id].(*types.PkgName); ok {
		return p.Imported().Path(), sel.Sel.Name
	}
	return "", ""
}

// checkEnvironment lets only programs read the environment and the arguments.
func checkEnvironment(h *house, complain complainer) {
	outside := []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Args", "Exit"}
	for _, r := range h.rooms {
		if slices.Contains(farEnds, r.path) {
			continue
		}
		_, info := h.names(r)
		for _, s := range r.sources {
			if s.test || s.syntax.Name.Name == "main" {
				continue
			}
			ast.Inspect(s.syntax, func(n ast.Node) bool {
				if pkg, name := selected(info, n); pkg == "os" && slices.Contains(outside, name) {
					complain(h.at(n), "os."+name+" is for cmd alone")
				}
				return true
			})
		}
	}
}

// checkState refuses package-level variables that change. A variable changes by an assignment to it or to a part of it. Some types exist to
// be changed. It does not see methods that change their receiver.
func checkState(h *house, complain complainer) {
	for _, r := range h.rooms {
		pkg, info := h.names(r)
		for _, s := range r.sources {
			if s.test {
				continue
			}
			for _, d := range s.syntax.Decls {
				changeable(h, info, d, complain)
			}
			ast.Inspect(s.syntax, func(n ast.Node) bool {
				for _, e := range changed(info, n) {
					id := base(e)
					if v, ok := info.Uses[id].(*types.Var); ok && v.Parent() == pkg.Scope() {
						complain(h.at(n), id.Name+" is a package-level variable: give it an owner")
					}
				}
				return true
			})
		}
	}
}

// changeable refuses package-level variables of types that exist to be changed.
func changeable(h *house, info *types.Info, d ast.Decl, complain complainer) {
	decl, ok := d.(*ast.GenDecl)
	if !ok || decl.Tok != token.VAR {
		return
	}
	for _, spec := range decl.Specs {
		v := spec.(*ast.ValueSpec)
		shapes := append([]ast.Expr{v.Type}, v.Values...)
		for _, shape := range shapes {
			if lit, ok := shape.(*ast.CompositeLit); ok {
				shape = lit.Type
			}
			if index, ok := shape.(*ast.IndexExpr); ok { // atomic.Pointer[T]
				shape = index.X
			}
			if pkg, name := selected(info, shape); pkg == "sync" || pkg == "sync/atomic" {
				complain(h.at(v), fmt.Sprintf("%s is a package-level %s.%s: give it an owner", v.Names[0].Name, pkg, name))
			}
		}
	}
}

// changed returns the variables that a statement or call changes.
func changed(info *types.Info, n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.CallExpr:
		id, ok := n.Fun.(*ast.Ident)
		if ok && (id.Name == "delete" || id.Name == "clear" || id.Name == "copy") && info.Uses[id] == types.Universe.Lookup(id.Name) {
			return n.Args[:1]
		}
	}
	return nil
}

// base returns the variable at the base of an expression such as (*x.f)[i], or nil.
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// mostMethods is how many exported methods a type of the product may have. With more it has more than one idea.
const mostMethods = 40

// checkMethods refuses types with too many exported methods.
func checkMethods(h *house, complain complainer) {
	for _, r := range h.rooms {
		if slices.Contains(farEnds, r.path) {
			continue
		}
		methods := map[string]int{}
		for _, s := range r.sources {
			for _, d := range s.syntax.Decls {
				f, ok := d.(*ast.FuncDecl)
				if s.test || !ok || f.Recv == nil || !f.Name.IsExported() {
					continue
				}
				if t := base(f.Recv.List[0].Type); t != nil {
					if methods[t.Name]++; methods[t.Name] == mostMethods+1 {
						complain(h.at(f), fmt.Sprintf("%s has more than %d exported methods", t.Name, mostMethods))
					}
				}
			}
		}
	}
}

// mostWords is how many words a sentence of a comment may have.
const mostWords = 20

var (
	paragraphEnd = regexp.MustCompile(`(?m)^(\t.*|[ ]*- |[ ]*$)`) // also code and items of lists
	sentenceEnd  = regexp.MustCompile(`[.!?]["'”)]*\s+`)
)

// checkSentences refuses long sentences in comments.
func checkSentences(h *house, complain complainer) {
	for _, r := range h.rooms {
		for _, s := range r.sources {
			for _, comment := range s.syntax.Comments {
				for _, said := range longSentences(comment.Text()) {
					complain(h.at(comment), fmt.Sprintf("a sentence has more than %d words: %s", mostWords, said))
				}
			}
		}
	}
}

func longSentences(comment string) (long []string) {
	for _, paragraph := range paragraphEnd.Split(comment, -1) {
		for _, said := range sentenceEnd.Split(strings.Join(strings.Fields(paragraph), " "), -1) {
			words := slices.DeleteFunc(strings.Fields(said), func(w string) bool {
				return !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
			})
			if len(words) > mostWords {
				long = append(long, said)
			}
		}
	}
	return long
}
