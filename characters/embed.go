// Package characters holds the characters that the program ships with. The file _default/character.toml documents every key and holds every
// default.
package characters

import "embed"

// FS holds one folder a character. It is never written to.
//
//go:embed _default cobalt garrick juniper pico sage vellum
var FS embed.FS
