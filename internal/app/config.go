package app

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"familiar/internal/discord"
	"familiar/internal/doctor"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/telemetry"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Value is a setting's value and where it came from.
type Value struct {
	Setting
	Text   string
	Source string // "environment", ".env", "file PATH", "default", or "" if there is none
}

// Config is the effective configuration. Every value has been checked.
type Config struct {
	Values []Value
}

// Problems lists everything that is wrong with the configuration or with how a command is used.
type Problems []string

func (p Problems) Error() string { return strings.Join(p, "\n") }

// ReadConfig reads the settings from the environment and from the files that NAME_FILE variables name. It also reads .env in dir or in the
// user's directory. The environment wins over .env. The error is [Problems]; the configuration is nil only if .env cannot be read.
func ReadConfig(env func(string) (string, bool), dir string) (*Config, error) {
	home := DotenvDir(env, dir)
	dotenv, err := doctor.ReadDotenv(filepath.Join(home, ".env"))
	if err != nil {
		return nil, Problems{err.Error()}
	}
	c := &Config{}
	var wrong Problems
	for _, s := range Settings() {
		s.Preset = defaultPlace(s.Name, s.Preset, env, dir)
		v, err := lookUp(s, sources{{"environment", env, dir}, {dotenvName(home, dir), func(name string) (string, bool) { text, ok := dotenv[name]; return text, ok }, home}})
		if err == nil && v.Text != "" && s.check != nil {
			err = s.check(v.Text)
		}
		if err != nil {
			wrong = append(wrong, complaint(s, err))
		}
		c.Values = append(c.Values, v)
	}
	if c.Get("DISCORD_TOKEN") == "none" { // in the environment, in place of the one in .env
		c.put("DISCORD_TOKEN", "")
	}
	if token := c.Value("DISCORD_TOKEN"); token.Text != "" {
		if err := discord.CheckToken(token.Text, c.Get("DISCORD_API_URL")); err != nil {
			wrong = slices.Insert(wrong, 0, complaint(token.Setting, err))
		}
	}
	if err := checkConsole(c); err != nil {
		wrong = append(wrong, complaint(c.Value("FAMILIAR_CONSOLE").Setting, err))
	}
	if len(wrong) > 0 {
		return c, wrong
	}
	return c, nil
}

// UnknownVariables lists the variables, in the .env of dir or in the environment, that are probably misspelt settings.
func UnknownVariables(environ []string, dir string) (lines []string) {
	dotenv, err := doctor.ReadDotenv(filepath.Join(dir, ".env"))
	if err != nil {
		return nil // ReadConfig reports it
	}
	var names []string
	for _, s := range Settings() {
		names = append(names, s.Name)
	}
	known := func(name string) bool {
		return slices.Contains(names, strings.TrimSuffix(name, "_FILE")) || standardName(name)
	}
	find := func(place, name string, near func(name, meant string) bool) bool {
		meant := nearestSetting(strings.TrimSuffix(name, "_FILE"), names)
		if known(name) || meant == "" || !near(name, meant) {
			return false
		}
		lines = append(lines, fmt.Sprintf("%s: %s is not a setting; did you mean %s?", place, name, meant))
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(dotenv)) {
		meant := Meant(name)
		if large := strings.ToUpper(name); large != name && known(large) {
			meant = large
		}
		if meant != "" && dotenv[meant] == "" {
			lines = append(lines, fmt.Sprintf(".env: %s is not a setting; did you mean %s?", name, meant))
			continue
		}
		found := find(".env", name, func(string, string) bool { return true })
		if !found && strings.HasPrefix(name, "FAMILIAR_") && !known(name) {
			lines = append(lines, fmt.Sprintf(".env: %s is not a setting; familiar config check lists all", name))
		}
	}
	// Other programs set variables, too: only one that begins like a setting may be meant as one.
	for _, name := range slices.Sorted(slices.Values(environ)) {
		find("environment", name, func(name, meant string) bool { return name[:min(3, len(name))] == meant[:3] })
	}
	return lines
}

// Meant returns the setting that other programs call by that name, or "".
func Meant(name string) string {
	switch name {
	case "TOKEN", "BOT_TOKEN", "DISCORD_BOT_TOKEN", "DISCORD_API_TOKEN", "DISCORD_KEY":
		return "DISCORD_TOKEN"
	case "API_KEY", "OPENAI_KEY", "OPEN_AI_KEY", "OPENAI_TOKEN", "OPENAI_APIKEY", "LLM_API_KEY":
		return "OPENAI_API_KEY"
	case "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY":
		return "OPENAI_API_KEY, with the address of that service in OPENAI_BASE_URL"
	case "BASE_URL", "OPENAI_BASE", "OPENAI_URL", "OPENAI_API_BASE", "OPENAI_API_URL", "OLLAMA_URL", "OLLAMA_BASE_URL", "LLM_BASE_URL":
		return "OPENAI_BASE_URL"
	case "MODEL", "MODEL_NAME", "LLM_MODEL", "OLLAMA_MODEL", "OPENAI_MODEL_NAME":
		return "OPENAI_MODEL"
	}
	return ""
}

// nearestSetting returns the setting that a name probably means, or "". A common beginning does not make them alike.
func nearestSetting(name string, names []string) string {
	family, rest, _ := strings.Cut(name, "_")
	var members []string
	for _, n := range names {
		if member, ok := strings.CutPrefix(n, family+"_"); ok {
			members = append(members, member)
		}
	}
	if members == nil {
		return text.Nearest(name, names)
	}
	if near := text.Nearest(rest, members); near != "" {
		return family + "_" + near
	}
	return ""
}

// standardName reports whether OpenTelemetry defines a variable of that name. Other programs may read it.
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

// sources are where settings are looked for, in order. Files are relative to dir.
type sources []struct {
	name string
	get  func(string) (string, bool)
	dir  string
}

// dotenvName is how a .env is named to people: by its path if it is not in dir.
func dotenvName(home, dir string) string {
	if home == dir {
		return ".env"
	}
	return filepath.Join(home, ".env")
}

// lookUp finds a setting: NAME, then NAME_FILE, first in the environment and then in .env.
func lookUp(s Setting, all sources) (Value, error) {
	for _, place := range all {
		if text, ok := place.get(s.Name); ok && strings.TrimSpace(text) != "" {
			return Value{s, strings.TrimSpace(text), place.name}, nil
		}
		if path, ok := place.get(s.Name + "_FILE"); ok && strings.TrimSpace(path) != "" {
			return fromFile(s, Resolve(place.dir, strings.TrimSpace(path)))
		}
	}
	if s.Preset != "" {
		return Value{s, s.Preset, "default"}, nil
	}
	return Value{Setting: s}, nil
}

func fromFile(s Setting, path string) (Value, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Value{Setting: s}, fmt.Errorf("%s_FILE: %w", s.Name, err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return Value{Setting: s}, fmt.Errorf("%s_FILE: %s is empty", s.Name, path)
	}
	return Value{s, text, "file " + path}, nil
}

func complaint(s Setting, err error) string {
	text := fmt.Sprintf("%s: %v\n  What it sets: %s.", s.Name, err, s.About)
	if s.where != "" {
		text += "\n  Get it from " + s.where
	}
	return text
}

func (c *Config) Get(name string) string { return c.Value(name).Text }

func (c *Config) Value(name string) Value {
	i := slices.IndexFunc(c.Values, func(v Value) bool { return v.Name == name })
	return c.Values[i]
}

// list returns the words of a setting, which commas or spaces separate.
func (c *Config) list(name string) []string {
	return strings.FieldsFunc(c.Get(name), isBetween)
}

// isBetween reports whether a character separates the words of a list.
func isBetween(r rune) bool { return r == ',' || unicode.IsSpace(r) }

// searchKeys returns the keys of the search backends, by the names of their settings.
func (c *Config) searchKeys() map[string]string {
	keys := map[string]string{}
	for _, k := range backend.Keys() {
		keys[k.Name] = c.Get(k.Name)
	}
	return keys
}

// Place returns where the store is: the address of a database, or a directory.
func (c *Config) Place(dir string) string {
	return cmp.Or(c.Get("FAMILIAR_DATABASE"), Resolve(dir, c.Get("FAMILIAR_DATA")))
}

func Resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// set returns the words of a setting as a set.
func (c *Config) set(name string) map[string]bool {
	all := map[string]bool{}
	for _, word := range c.list(name) {
		all[word] = true
	}
	return all
}

// Count returns the value of a setting that is a whole number, or 0 if it is not set.
func (c *Config) Count(name string) int {
	n, _ := strconv.ParseInt(c.Get(name), 10, 32)
	return int(n)
}

// span returns the value of a setting that is a duration.
func (c *Config) span(name string) time.Duration {
	d, _ := time.ParseDuration(c.Get(name))
	return d
}

// clear removes the value of a setting.
func (c *Config) put(name, text string) {
	for i := range c.Values {
		if c.Values[i].Name == name {
			c.Values[i].Text, c.Values[i].Source = text, ""
		}
	}
}

// homes are the user's directories for familiar's data and configuration. They are empty if the environment does not tell.
type homes struct{ data, config string }

// homesOf returns the directories that an operating system has for that. On Linux:
// https://specifications.freedesktop.org/basedir-spec/latest/
func homesOf(env func(string) (string, bool), system string) homes {
	get := func(name string, below ...string) string {
		dir, _ := env(name)
		if !filepath.IsAbs(dir) {
			return ""
		}
		return filepath.Join(append([]string{dir}, below...)...)
	}
	switch system {
	case "darwin":
		dir := get("HOME", "Library", "Application Support", "familiar")
		return homes{cmp.Or(get("XDG_DATA_HOME", "familiar"), dir), cmp.Or(get("XDG_CONFIG_HOME", "familiar"), dir)}
	case "windows":
		return homes{get("LOCALAPPDATA", "familiar"), get("APPDATA", "familiar")}
	}
	return homes{
		cmp.Or(get("XDG_DATA_HOME", "familiar"), get("HOME", ".local", "share", "familiar")),
		cmp.Or(get("XDG_CONFIG_HOME", "familiar"), get("HOME", ".config", "familiar")),
	}
}

// defaultPlace returns the preset of a setting that names a directory. It is the one below dir if it exists or dir is a clone of the
// project, else the user's.
func defaultPlace(setting, preset string, env func(string) (string, bool), dir string) string {
	own := map[string]string{"FAMILIAR_DATA": homesOf(env, runtime.GOOS).data, "FAMILIAR_CHARACTERS": inHome(env, "characters")}[setting]
	if own == "" || IsDir(filepath.Join(dir, preset)) || isClone(dir) {
		return preset
	}
	return own
}

// DotenvDir returns the directory of the .env that is read: dir or, if it has none, the user's.
func DotenvDir(env func(string) (string, bool), dir string) string {
	own := homesOf(env, runtime.GOOS).config
	if own == "" || Exists(filepath.Join(dir, ".env")) || !Exists(filepath.Join(own, ".env")) {
		return dir
	}
	return own
}

func inHome(env func(string) (string, bool), name string) string {
	if own := homesOf(env, runtime.GOOS).config; own != "" {
		return filepath.Join(own, name)
	}
	return ""
}

func isClone(dir string) bool {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(mod, []byte("module familiar\n"))
}

func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Redactor returns a redactor of every secret of the configuration.
func (c *Config) Redactor() *clean.Redactor {
	var secrets []string
	for _, v := range c.Values {
		secrets = append(append(secrets, v.hidden()), v.inAddress()...)
		secrets = append(secrets, v.inHeaders()...)
	}
	return clean.NewRedactor(secrets...)
}

// Plain lists the secrets that are too short to be hidden.
func (c *Config) Plain() []string {
	var lines []string
	for _, v := range c.Values {
		if secret := v.hidden(); secret != "" && !clean.Protects(secret) {
			lines = append(lines, v.Name+" is too short to be distinguished from a common word: it is not hidden in replies, records and logs")
		}
	}
	return lines
}

// hidden returns the secret part of a value: a key, or the password in a URL.
func (v Value) hidden() string {
	if v.Secret {
		return v.Text
	}
	u, err := url.Parse(v.Text)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

// inAddress returns what else may be secret in a URL. It is the user's name, which may be a token, and the values of the query.
func (v Value) inAddress() []string {
	u, err := url.Parse(v.Text)
	if v.Secret || err != nil {
		return nil
	}
	if store.IsServer(v.Text) { // the user's name is not a token, and the options are not secret
		raw, _, _ := strings.Cut(strings.TrimPrefix(v.Text[strings.Index(v.Text, "://")+3:], u.User.Username()+":"), "@")
		return []string{raw, u.Query().Get("password"), u.Query().Get("sslpassword")}
	}
	all := []string{u.User.Username()}
	for _, values := range u.Query() {
		all = append(all, values...)
	}
	return all
}

// Displayed returns the value as it may be printed.
func (v Value) Displayed() string {
	switch {
	case v.Text == "":
		return "–"
	case v.Secret:
		return "(set, hidden)"
	}
	return anyAddress.ReplaceAllStringFunc(v.Text, displayAddress)
}

// anyAddress matches an address in a value, also one without a scheme: a name and a password before a host.
var anyAddress = text.NewLazyRegexp(`[A-Za-z][A-Za-z0-9+.-]*://[^\s,]+|[^\s,]*:[^\s,]*@[^\s,]+`)

// displayAddress returns an address without user name, password, values of the query and fragment.
func displayAddress(address string) string {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.Scheme == "mailto":
		return address // it is meant to be published
	case err != nil || u.Host == "":
		return "(no address, hidden)"
	}
	scheme, rest, _ := strings.Cut(address, "://")
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	host, path, slash := strings.Cut(rest, "/")
	if strings.Contains(path+query+fragment, "@") && strings.ContainsAny(host, ":@") {
		return "(no address, hidden)" // a password may begin in the host: postgres://ada:12/word@host
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = clean.Mask + host[i:]
	}
	shown := scheme + "://" + host
	if slash {
		shown += "/" + path
	}
	if query != "" {
		shown += "?" + queryValue.ReplaceAllString(query, "${1}"+clean.Mask)
	}
	if fragment != "" {
		shown += "#" + clean.Mask
	}
	return shown
}

// queryValue matches a parameter's value with its name, if it has one.
var queryValue = text.NewLazyRegexp(`([^&;=]*=)?[^&;=][^&;]*`)

// inHeaders returns the values of headers. Each is a secret of its own.
func (v Value) inHeaders() (secrets []string) {
	if v.Name != "OTEL_EXPORTER_OTLP_HEADERS" {
		return nil
	}
	headers, _ := telemetry.ParseOTLPHeaders(v.Text) // it was checked
	for _, text := range headers {
		secrets = append(secrets, text)
		if _, key, found := strings.Cut(text, " "); found { // "Bearer …"
			secrets = append(secrets, strings.TrimSpace(key))
		}
	}
	return secrets
}
