package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"familiar/internal/disk"
	"familiar/internal/doctor"
	"familiar/internal/store"
)

func (e *examination) database(ctx context.Context) []doctor.Finding {
	dir := resolve(e.p.dir, e.a.config.get("FAMILIAR_DATA"))
	d := doctor.Database{Path: filepath.Join(dir, "familiar.db"), Dir: checkDir("FAMILIAR_DATA", dir), Now: time.Now()}
	space := disk.Free
	if e.p.far.free != nil {
		space = e.p.far.free
	}
	if free, err := space(nearestDir(dir)); err == nil {
		d.Free, d.FreeKnown = free, true
	}
	db, err := store.Look(ctx, dir)
	var trouble *store.Error
	switch {
	case errors.As(err, &trouble) && trouble.Kind == store.Missing:
		d.Missing = true
		return d.Judge()
	case errors.As(err, &trouble) && trouble.Kind == store.Older:
		d.Older, d.Trouble = true, err.Error()
		return d.Judge()
	case err != nil:
		d.Trouble = err.Error()
		return d.Judge()
	}
	defer db.Close()
	if at, err := db.LastBackup(ctx); err == nil {
		d.Backup = at
	}
	found, err := db.Inspect(ctx)
	d.Bytes, d.Unused, d.Schema, d.Wrong = found.Bytes, found.Unused, found.Schema, found.Wrong
	switch {
	case err != nil && ctx.Err() != nil:
		d.Hurried = true
	case err != nil:
		d.Trouble = err.Error()
	}
	return d.Judge()
}

// nearestDir is a directory, or the nearest one above that there is.
func nearestDir(dir string) string {
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func (e *examination) console(context.Context) []doctor.Finding {
	address, known := e.a.config.find("FAMILIAR_CONSOLE")
	if !known {
		return nil // this version has none
	}
	token, _ := e.a.config.find("FAMILIAR_CONSOLE_TOKEN")
	return []doctor.Finding{doctor.Console(address.text, token.text != "")}
}

// clear forgets what a setting is set to.
func (c *config) clear(name string) {
	for i := range c.values {
		if c.values[i].name == name {
			c.values[i].text, c.values[i].source = "", ""
		}
	}
}

// find returns a setting, if this version has it.
func (c *config) find(name string) (value, bool) {
	i := slices.IndexFunc(c.values, func(v value) bool { return v.name == name })
	if i < 0 {
		return value{}, false
	}
	return c.values[i], true
}

func (e *examination) encryption(context.Context) []doctor.Finding {
	dir := nearestDir(resolve(e.p.dir, e.a.config.get("FAMILIAR_DATA")))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	root := e.p.far.root
	if root == nil {
		root = os.DirFS("/")
	}
	return []doctor.Finding{doctor.Encryption(root, dir)}
}
