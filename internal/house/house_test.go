package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// house is the source of a module.
type house struct {
	module string
	files  *token.FileSet
	rooms  map[string]*room // by folder, from the module's root
}

// room is one folder with Go files.
type room struct {
	path    string
	sources []*source

	pkg  *types.Package // see names; nil until it is needed
	info *types.Info    // the same
}

// source is one Go file, whatever its build tags.
type source struct {
	name   string // from the module's root
	test   bool
	syntax *ast.File
}

// complainer receives each violation and its position.
type complainer func(where, what string)

var checks = []func(*house, complainer){
	checkRooms, checkImports, checkNames, checkInit, checkClients, checkEnvironment, checkState, checkGate, checkMethods, checkSentences,
}

func TestHouse(t *testing.T) {
	for _, c := range inspect(read(t, os.DirFS(root(t)))) {
		t.Error(c)
	}
}

// root returns the nearest parent folder with a go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above this test")
		}
		dir = filepath.Dir(dir)
	}
}

// read parses a module. It leaves out other modules, and folders that the go command ignores.
func read(t *testing.T, fsys fs.FS) *house {
	t.Helper()
	h := &house{files: token.NewFileSet(), rooms: map[string]*room{}}
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^module (\S+)`).FindSubmatch(mod); m != nil {
		h.module = string(m[1])
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && ignored(fsys, name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		return h.add(fsys, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func ignored(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (h *house) add(fsys fs.FS, name string) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(h.files, name, bytes.NewReader(data), parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return fmt.Errorf("parse source: %w", err)
	}
	dir := path.Dir(name)
	if h.rooms[dir] == nil {
		h.rooms[dir] = &room{path: dir}
	}
	h.rooms[dir].sources = append(h.rooms[dir].sources, &source{name, strings.HasSuffix(name, "_test.go"), syntax})
	return nil
}

// at returns a node's position in the source.
func (h *house) at(n ast.Node) string {
	p := h.files.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// inspect returns all violations, in order.
func inspect(h *house) []string {
	var all []string
	for _, check := range checks {
		check(h, func(where, what string) { all = append(all, where+": "+what) })
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// names resolves the identifiers of a room's own files, without tests. Identifiers of other packages stay unknown. The rules only ask for
// the package of a name, and for what belongs to the room itself.
func (h *house) names(r *room) (*types.Package, *types.Info) {
	if r.pkg != nil {
		return r.pkg, r.info
	}
	var files []*ast.File
	for _, s := range r.sources {
		if !s.test {
			files = append(files, s.syntax)
		}
	}
	r.info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: hollow{}, Error: func(error) {}, FakeImportC: true}
	r.pkg, _ = conf.Check(r.path, h.files, files, r.info) // errors are expected: the imports are empty
	return r.pkg, r.info
}

// hollow imports every package as an empty one, so that only this module's source is read.
type hollow struct{}

func (hollow) Import(p string) (*types.Package, error) {
	pkg := types.NewPackage(p, packageName(p))
	pkg.MarkComplete()
	return pkg, nil
}

// packageName guesses a package's name from its path: the last part that isn't a version.
func packageName(p string) string {
	name := path.Base(p)
	if regexp.MustCompile(`^v\d+$`).MatchString(name) {
		name = path.Base(path.Dir(p))
	}
	name = strings.TrimPrefix(name, "go-")
	return strings.NewReplacer("-", "_", ".", "_").Replace(name)
}
