package memory_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryReadIsScoped reads this package and the whole program. A statement that reads memory and has no condition on scopes would show
// what was said in private. What runs within a transaction changes what it reads and hands nothing out; what hands statements out takes a
// ScopeFilter.
func TestEveryReadIsScoped(t *testing.T) {
	reads := regexp.MustCompile(`(?i)\b(from|join)\s+(memories|memory_words|memory_sources)\b`)
	excepted := []string{ // the operator's, also what makes vectors, which servers there are, ids alone, and files
		"Store.Export", "Store.Browse", "Store.CountByScope", "FilterOperator", "Vectors.MissingMemories", "keepMemoryVector", "Guilds.List", "Store.Refresh",
		"Store.GuildsOf", "Store.SourcesOf", "Store.deleteWhere", "People.AllIDs", "restingOn",
		"rankedMemories", "phrases", // what PostgreSQL calls memoriesWith
	}
	seen := 0
	fset := token.NewFileSet()
	check := func(path string, own bool) {
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, isFunc := d.(*ast.FuncDecl)
			name, hasTx, hasFilter, hands, isScoped, isRead := "", false, false, false, false, false
			mentions := func(n ast.Node, want string) (found bool) {
				ast.Inspect(n, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					found = found || ok && id.Name == want
					return true
				})
				return found
			}
			if g, ok := d.(*ast.GenDecl); ok && (g.Tok == token.CONST || g.Tok == token.VAR) {
				name = g.Specs[0].(*ast.ValueSpec).Names[0].Name
			}
			if isFunc {
				name = f.Name.Name
				if f.Recv != nil {
					t := f.Recv.List[0].Type
					if p, ok := t.(*ast.StarExpr); ok {
						t = p.X
					}
					if id, ok := t.(*ast.Ident); ok {
						name = id.Name + "." + name
					}
				}
				hasTx, hasFilter = mentions(f.Type.Params, "Tx"), mentions(f.Type.Params, "ScopeFilter")
				hands = f.Type.Results != nil && mentions(f.Type.Results, "Statement") && f.Name.IsExported()
				isScoped = f.Body != nil && mentions(f.Body, "scoped") && mentions(f.Body, "args")
				isRead = f.Body != nil && (mentions(f.Body, "selectStatement") || mentions(f.Body, "memoriesWith"))
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s, _ := strconv.Unquote(lit.Value)
					isRead = isRead || reads.MatchString(s)
				}
				return true
			})
			at := fset.Position(d.Pos())
			switch {
			case slices.Contains(excepted, name):
				continue
			case isRead && !own:
				t.Errorf("%s: reads memory past its package", at)
			case isRead && isFunc && !isScoped && (!hasTx || f.Name.IsExported()):
				t.Errorf("%s: %s reads memory without a condition on scopes", at, name)
			case own && hands && !hasFilter:
				t.Errorf("%s: %s hands out memory without a ScopeFilter", at, name)
			}
			if isRead && isScoped {
				seen++
			}
		}
	}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			check(path, filepath.Dir(path) == filepath.Join("..", "..", "internal", "memory"))
		}
		return err
	})
	if err != nil || seen < 5 {
		t.Fatalf("%d reads seen, %v", seen, err)
	}
}
