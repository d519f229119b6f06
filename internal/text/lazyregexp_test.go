package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestExpressions compiles all literal expressions of the program. The tests of other packages use the ones that are
// built from tables.
func TestExpressions(t *testing.T) {
	root, seen := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			name := call.Fun
			if selector, ok := name.(*ast.SelectorExpr); ok {
				name = selector.Sel
			}
			literal, isLiteral := call.Args[0].(*ast.BasicLit)
			if f, ok := name.(*ast.Ident); !ok || !isLiteral || f.Name != "NewLazyRegexp" {
				return true
			}
			expr, err := strconv.Unquote(literal.Value)
			if err == nil {
				_, err = regexp.Compile(expr)
			}
			if seen++; err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return true
		})
		return nil
	})
	if err != nil || seen == 0 {
		t.Errorf("%d expressions, %v", seen, err)
	}
}

func TestRegexp(t *testing.T) {
	r := NewLazyRegexp(`(b+)(c)?`)
	if r.String() != `(b+)(c)?` || !r.MatchString("abbc") || r.ReplaceAllString("abbc", "<$1>") != "a<bb>" {
		t.Errorf("%v does not do what regexp does", r)
	}
}
