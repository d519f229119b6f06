package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"familiar/internal/text"
)

// The linker writes these when a release is built (-X main.release=1.2.0); see .goreleaser.yaml, the Dockerfile and .ci/release.
var (
	release string // without a v
	commit  string // hash
	built   string // moment of the commit, RFC 3339
)

// next is the version that is being worked on.
const next = "0.1.0"

// tagged matches the version of a release, not one that the go command makes from a commit.
var tagged = text.NewLazyRegexp(`^v\d+\.\d+\.\d+$`)

// version returns the version of the release, or of the module if `go install` installed it, or the next one.
func version() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case release != "":
		return strings.TrimPrefix(release, "v")
	case ok && tagged.MatchString(info.Main.Version):
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return next
}

// source returns the commit that the program was built from and its date, as far as they are known.
func source() (hash, date string) {
	if commit != "" {
		return commit[:min(12, len(commit))], built[:min(len(time.DateOnly), len(built))]
	}
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return "", ""
	}
	changed := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			hash = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			date = s.Value[:min(len(time.DateOnly), len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				changed = " with changes"
			}
		}
	}
	return hash + changed, date
}

// facts are what is known of a version.
type facts struct {
	Version, Commit, Date, Go, Platform string
}

func versionFacts() facts {
	hash, date := source()
	return facts{version(), hash, date, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// versionWords returns the version with its commit, date, Go version and platform, as far as they are known:
//
//	0.1.0 (commit 3f2a9c4d1e0b, 2026-11-22, go1.26.8, linux/amd64)
func versionWords() string {
	f := versionFacts()
	var words []string
	if f.Commit != "" {
		words = append(words, "commit "+f.Commit)
	}
	if f.Date != "" {
		words = append(words, f.Date)
	}
	return fmt.Sprintf("%s (%s)", f.Version, strings.Join(append(words, f.Go, f.Platform), ", "))
}
