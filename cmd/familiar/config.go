package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"familiar/internal/bot/discord"
	"familiar/internal/search/backends"
	"familiar/internal/text"

	"github.com/joho/godotenv"
)

// value is a setting's value and where it came from.
type value struct {
	setting
	text   string
	source string // "environment", ".env", "file PATH", "default", or "" if there is none
}

// config is the effective configuration. Every value has been checked.
type config struct {
	values []value
}

// problems is everything that is wrong with the configuration, at once.
type problems []string

func (p problems) Error() string { return strings.Join(p, "\n") }

// readConfig reads the environment, the files that NAME_FILE variables name, and .env, in dir or in the user's directory. The real
// environment wins over .env.
func readConfig(env func(string) (string, bool), dir string) (*config, error) {
	home := dotenvPlace(env, dir)
	dotenv, err := readDotenv(home)
	if err != nil {
		return nil, problems{err.Error()}
	}
	c := &config{}
	var wrong problems
	for _, s := range settings() {
		s.preset = defaultPlace(s.name, s.preset, env, dir)
		v, err := lookUp(s, places{{"environment", env, dir}, {dotenvName(home, dir), func(name string) (string, bool) { text, ok := dotenv[name]; return text, ok }, home}})
		if err == nil && v.text != "" && s.check != nil {
			err = s.check(v.text)
		}
		if err != nil {
			wrong = append(wrong, complaint(s, err))
		}
		c.values = append(c.values, v)
	}
	if token := c.value("DISCORD_TOKEN"); token.text != "" {
		if err := discord.CheckToken(token.text, c.get("DISCORD_API_URL")); err != nil {
			wrong = slices.Insert(wrong, 0, complaint(token.setting, err))
		}
	}
	if err := checkConsole(c); err != nil {
		wrong = append(wrong, complaint(c.value("FAMILIAR_CONSOLE").setting, err))
	}
	if len(wrong) > 0 {
		return c, wrong
	}
	return c, nil
}

// strangers says which names that are set, in the .env of dir or in the environment, were probably meant as one of ours.
func strangers(environ []string, dir string) (lines []string) {
	dotenv, err := readDotenv(dir)
	if err != nil {
		return nil // readConfig says so
	}
	var names []string
	for _, s := range settings() {
		names = append(names, s.name)
	}
	known := func(name string) bool {
		return slices.Contains(names, strings.TrimSuffix(name, "_FILE")) || standardName(name)
	}
	find := func(place, name string, near func(name, meant string) bool) {
		if meant := text.Nearest(strings.TrimSuffix(name, "_FILE"), names); !known(name) && meant != "" && near(name, meant) {
			lines = append(lines, fmt.Sprintf("%s: %s is no setting of mine; did you mean %s?", place, name, meant))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dotenv)) {
		find(".env", name, func(string, string) bool { return true })
	}
	// Others set variables in the environment, too: only what begins like a name of ours may be meant as one.
	for _, name := range slices.Sorted(slices.Values(environ)) {
		find("environment", name, func(name, meant string) bool { return name[:min(3, len(name))] == meant[:3] })
	}
	return lines
}

// standardName reports whether OpenTelemetry has a variable of that name. Those that are no settings of this program are for others.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
func standardName(name string) bool {
	if name, ok := strings.CutPrefix(name, "OTEL_EXPORTER_OTLP_"); ok {
		for _, signal := range []string{"TRACES_", "METRICS_", "LOGS_"} {
			name = strings.TrimPrefix(name, signal)
		}
		return slices.Contains([]string{"ENDPOINT", "HEADERS", "PROTOCOL", "TIMEOUT", "COMPRESSION", "CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE", "INSECURE", "METRICS_TEMPORALITY_PREFERENCE"}, name)
	}
	return slices.Contains([]string{"OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER", "OTEL_TRACES_SAMPLER"}, name)
}

func readDotenv(dir string) (map[string]string, error) {
	path := filepath.Join(dir, ".env")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read .env: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read .env: %w", err)
	}
	values, err := godotenv.UnmarshalBytes(text)
	if err != nil {
		// The parser quotes the line that it does not understand, which may hold a secret.
		return nil, fmt.Errorf("read %s: line %d is not NAME=value", path, badLine(text))
	}
	return values, nil
}

// badLine is the number of the line at which a .env stops being one: the one after the longest beginning that is. A
// value in quotes may go over several lines.
func badLine(text []byte) int {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for n := len(lines) - 1; n > 0; n-- {
		if _, err := godotenv.UnmarshalBytes(bytes.Join(lines[:n], nil)); err == nil {
			return n + 1
		}
	}
	return 1
}

// places are where settings are looked for, with the directory that files there are relative to.
type places []struct {
	name string
	get  func(string) (string, bool)
	dir  string
}

// dotenvName is what a .env is called: by its whole path where it is not in dir.
func dotenvName(home, dir string) string {
	if home == dir {
		return ".env"
	}
	return filepath.Join(home, ".env")
}

// lookUp finds a setting: NAME, then NAME_FILE, first in the environment and then in .env.
func lookUp(s setting, all places) (value, error) {
	for _, place := range all {
		if text, ok := place.get(s.name); ok && strings.TrimSpace(text) != "" {
			return value{s, strings.TrimSpace(text), place.name}, nil
		}
		if path, ok := place.get(s.name + "_FILE"); ok && strings.TrimSpace(path) != "" {
			return fromFile(s, resolve(place.dir, strings.TrimSpace(path)))
		}
	}
	if s.preset != "" {
		return value{s, s.preset, "default"}, nil
	}
	return value{setting: s}, nil
}

func fromFile(s setting, path string) (value, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return value{setting: s}, fmt.Errorf("%s_FILE: %w", s.name, err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return value{setting: s}, fmt.Errorf("%s_FILE: %s is empty", s.name, path)
	}
	return value{s, text, "file " + path}, nil
}

func complaint(s setting, err error) string {
	text := fmt.Sprintf("%s: %v\n  What it sets: %s.", s.name, err, s.about)
	if s.where != "" {
		text += "\n  Get it from " + s.where
	}
	return text
}

func (c *config) get(name string) string { return c.value(name).text }

func (c *config) value(name string) value {
	i := slices.IndexFunc(c.values, func(v value) bool { return v.name == name })
	return c.values[i]
}

// list is a setting of several words, separated by commas or spaces.
func (c *config) list(name string) []string {
	return strings.FieldsFunc(c.get(name), isBetween)
}

// isBetween reports whether a character stands between the words of a list.
func isBetween(r rune) bool { return r == ',' || unicode.IsSpace(r) }

// searchKeys are the values of the search backends' keys, by name.
func (c *config) searchKeys() map[string]string {
	keys := map[string]string{}
	for _, k := range backends.Keys() {
		keys[k.Name] = c.get(k.Name)
	}
	return keys
}

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// set returns the words of a list.
func (c *config) set(name string) map[string]bool {
	all := map[string]bool{}
	for _, word := range c.list(name) {
		all[word] = true
	}
	return all
}

// count returns the value of a setting that is a whole number from 1 on, and 0 for one that has not been checked.
func (c *config) count(name string) int {
	n, _ := strconv.ParseInt(c.get(name), 10, 32)
	return int(n)
}

// span returns the value of a setting that is a length of time.
func (c *config) span(name string) time.Duration {
	d, _ := time.ParseDuration(c.get(name))
	return d
}
