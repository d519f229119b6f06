package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"familiar/internal/disk"
)

// webCache is where pages and the answers of search backends outlive the program: two directories in one.
type webCache struct {
	dir                    string // empty: nowhere
	pages, answers         string // in dir
	pageBytes, answerBytes int64
}

// answerShare is the part of the whole that answers may fill: one is some tens of kilobytes at most, mostly less.
const answerShare = 8

// webCache reads FAMILIAR_WEB_CACHE and FAMILIAR_WEB_CACHE_MB. A directory that others may write to is refused.
func (c *config) webCache(dir string) (webCache, error) {
	if c.get("FAMILIAR_WEB_CACHE") == "" {
		return webCache{}, nil
	}
	size := int64(c.count("FAMILIAR_WEB_CACHE_MB")) << 20
	whole := resolve(dir, c.get("FAMILIAR_WEB_CACHE"))
	w := webCache{
		dir: whole, pages: filepath.Join(whole, "pages"), answers: filepath.Join(whole, "searches"),
		pageBytes: size - size/answerShare, answerBytes: size / answerShare,
	}
	for _, place := range []string{w.dir, w.pages, w.answers} {
		if err := disk.Check(place); err != nil {
			return webCache{}, fmt.Errorf("FAMILIAR_WEB_CACHE: %w", err)
		}
	}
	return w, nil
}

// clear removes all that is kept there: whose questions it was for is not known of it.
func (w webCache) clear() error {
	if w.dir == "" {
		return nil
	}
	return errors.Join(disk.Clear(w.answers), disk.Clear(w.pages))
}

// checkWebCache tries whether the directories can be used. It makes none.
func checkWebCache(c *config, dir string) error {
	w, err := c.webCache(dir)
	if err != nil || w.dir == "" {
		return err
	}
	for _, place := range []string{w.pages, w.answers} {
		if err := checkDir("FAMILIAR_WEB_CACHE", place); err != nil {
			return err
		}
	}
	return nil
}
