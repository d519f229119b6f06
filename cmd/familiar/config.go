package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"familiar/internal/bot"
	"familiar/internal/bot/discord"
	"familiar/internal/redact"
	"familiar/internal/search/backends"
	"familiar/internal/text"
	"familiar/internal/web/guard"

	"github.com/joho/godotenv"
)

// setting is one variable of the environment. This table is the only list of them.
type setting struct {
	name   string
	preset string // value where nothing is set
	secret bool
	about  string // what it is for
	where  string // where to get it
	check  func(string) error
}

func settings() []setting {
	all := []setting{
		{name: "DISCORD_TOKEN", secret: true, about: "the bot's token, for `familiar run`"},
		{name: "DISCORD_API_URL", preset: "https://discord.com/api", about: "a Discord-compatible server", check: checkURL},
		{name: "DISCORD_FILE_HOSTS", preset: "cdn.discordapp.com,media.discordapp.net", about: "the hosts that files attached to messages may be loaded from, separated by commas", check: checkHosts},
		{name: "DISCORD_OPERATOR", about: "your user id, where a Discord-compatible server does not say who may manage a server", check: checkID},
		{name: "DISCORD_OPERATOR_CHANNEL", about: "the id of a channel that is told what is wrong with the characters' files, and what a reload changed", check: checkID},
		{name: "OPENAI_API_KEY", secret: true, about: "the key of the model's server", where: "the server's account page; local servers need none"},
		{name: "OPENAI_BASE_URL", about: "any OpenAI-compatible server, with its version: https://api.openai.com/v1", check: checkURL},
		{name: "OPENAI_MODEL", about: "the model that answers; without it the server's first, or " + openAIModel + " at OpenAI"},
		{name: "OPENAI_FALLBACKS", about: "models of the same server to ask when it fails, separated by commas"},
		{name: "OPENAI_VISION", preset: "auto", about: "whether it is shown images; auto: until it refuses them", check: oneOf("auto", "on", "off")},
		{name: "FAMILIAR_MODEL_REQUESTS", preset: "64", about: "how many requests may run at once at each model server", check: checkCount},
		{name: "FAMILIAR_FIRST_WORD", preset: "20s", about: "how long a model may be silent before its first word; then the next is asked, or the person told", check: checkSpan},
		{name: "SIDE_API_KEY", secret: true, about: "the key of the side model's server; without it the main model's"},
		{name: "SIDE_BASE_URL", about: "the server of the side model, which reads pages; without it the main model's", check: checkURL},
		{name: "SIDE_MODEL", about: "the side model; without it the main one"},
		{name: "FAMILIAR_LEARN", preset: "on", about: "whether the side model writes down by itself what is worth remembering of what people say where the bot takes part; about people only of those who agreed (/memory on)", check: oneOf("on", "off")},
		{name: "FAMILIAR_LEARN_PER_HOUR", preset: "20", about: "how often in an hour the side model is asked for that", check: checkCount},
		{name: "TRANSCRIBE_API_KEY", secret: true, about: "the key of the server that writes voice messages down"},
		{name: "TRANSCRIBE_BASE_URL", about: "an OpenAI-compatible server with /audio/transcriptions, with its version, to which voice messages for the bot are sent; without it they are not listened to", check: checkURL},
		{name: "TRANSCRIBE_MODEL", preset: "whisper-1", about: "the model that writes voice messages down"},
		{name: "EMBED_API_KEY", secret: true, about: "the key of the server that makes vectors of messages"},
		{name: "EMBED_BASE_URL", about: "an OpenAI-compatible server with /embeddings, with its version, to which the texts of all messages that are kept are sent, so that they are recalled by their meaning, too; without it by their words alone", check: checkURL},
		{name: "EMBED_MODEL", preset: "text-embedding-3-small", about: "the model that makes vectors; another one makes all anew"},
		{name: "FAMILIAR_VERIFY", preset: "off", about: "whether the side model is also asked if the cited pages bear a reply out; the reply then waits up to 6 seconds for it at its end", check: oneOf("off", "on")},
		{name: "SEARXNG_URL", about: "a SearXNG instance, best your own", where: "https://docs.searxng.org", check: checkURL},
		{name: "SEARXNG_DEPTH", preset: "basic", about: "which engines it asks; advanced asks more of them", check: oneOf("basic", "advanced")},
		{name: "FAMILIAR_SEARCH", about: "the search backends to use, by name and in the order of asking, separated by commas; without it all that can be used"},
		{name: "FAMILIAR_SEARCH_OFF", about: "search backends not to use, by name, separated by commas"},
		{name: "FAMILIAR_SEARCH_LIMITS", about: "how often search backends may be asked, in place of their free plans: brave=2000/month, newsapi=100/day, searxng=5/second"},
		{name: "FAMILIAR_DATA", preset: "./data", about: "the directory of the database"},
		{name: "FAMILIAR_KEEP_MESSAGES", preset: "30", about: "for how many days messages, and the names of those who wrote them, are kept", check: checkCount},
		{name: "FAMILIAR_KEEP_MEMORY", preset: "365", about: "for how many days what it learned by itself is kept; what somebody had it remember stays until it is forgotten", check: checkCount},
		{name: "FAMILIAR_KEEP_RECORDS", preset: "30", about: "for how many days the records of turns are kept", check: checkCount},
		{name: "FAMILIAR_LEFT_SERVER_GRACE", preset: "24h", about: "how long all that is of a server is kept after the bot has left it", check: checkSpan},
		{name: "FAMILIAR_CHARACTERS", preset: "./characters", about: "the directory of your characters; those built in are there without it"},
		{name: "FAMILIAR_CHARACTER", preset: "sage", about: "the character that answers"},
		{name: "FAMILIAR_TURNS_PER_MINUTE", preset: "20", about: "how many answers a person may ask for in a minute", check: checkCount},
		{name: "FAMILIAR_QUOTAS", about: "how much may be used on a day of UTC: person 50 turns, channel 20 lookups, server 2000000 tokens, all 5 dollars", check: checkQuotas},
		{name: "DISCORD_ALLOW", about: "ids of people, roles, channels and servers, separated by commas: nobody else is answered, and nowhere else", check: checkIDs},
		{name: "DISCORD_DENY", about: "ids of people, roles, channels and servers that are not answered, separated by commas", check: checkIDs},
		{name: "DISCORD_PROXIES", preset: "466378653216014359,431544605209788416", about: "ids of applications whose webhooks write for people, separated by commas; preset: PluralKit and Tupperbox; 0 for none", check: checkIDs},
		{name: "FAMILIAR_CONTACT", about: "the address at which site owners reach you; sent as part of the User-Agent"},
		{name: "FAMILIAR_WEB", preset: "on", about: "whether anything may be looked up at all", check: oneOf("on", "off")},
		{name: "FAMILIAR_WEB_DENY", about: "addresses and CIDR prefixes that no page may be on, beyond those that are never public, separated by commas: those by which this machine's network is reached from outside", check: checkPrefixes},
		{name: "FAMILIAR_WEB_CACHE", about: "a directory that keeps pages over a restart, for as long as their sites say and an hour at most, and what searches found, for a day; without it they are in memory alone"},
		{name: "FAMILIAR_WEB_CACHE_MB", preset: "64", about: "how large that directory may grow, in megabytes, an eighth of it for searches", check: checkCount},
		{name: "FAMILIAR_LOG", preset: "info", about: "how much is logged", check: oneOf("debug", "info", "warn", "error")},
	}
	for _, k := range backends.Keys() {
		all = append(all, setting{name: k.Name, secret: !k.Open, about: k.About, where: k.Where})
	}
	return all
}

const tokenHelp = "https://discord.com/developers/applications → your application → Bot → Reset Token"

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

// readConfig reads the environment, the files that NAME_FILE variables name, and .env in dir. The real environment
// wins over .env.
func readConfig(env func(string) (string, bool), dir string) (*config, error) {
	dotenv, err := readDotenv(dir)
	if err != nil {
		return nil, problems{err.Error()}
	}
	c := &config{}
	var wrong problems
	for _, s := range settings() {
		v, err := lookUp(s, env, dotenv, dir)
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
	if len(wrong) > 0 {
		return c, wrong
	}
	return c, nil
}

// strangers says which names that are set, in .env or in the environment, were probably meant as one of ours.
func strangers(environ []string, dir string) (lines []string) {
	dotenv, err := readDotenv(dir)
	if err != nil {
		return nil // readConfig says so
	}
	var names []string
	for _, s := range settings() {
		names = append(names, s.name)
	}
	known := func(name string) bool { return slices.Contains(names, strings.TrimSuffix(name, "_FILE")) }
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

// lookUp finds a setting: NAME, then NAME_FILE, first in the environment and then in .env.
func lookUp(s setting, env func(string) (string, bool), dotenv map[string]string, dir string) (value, error) {
	inFile := func(name string) (string, bool) { text, ok := dotenv[name]; return text, ok }
	for _, place := range []struct {
		name string
		get  func(string) (string, bool)
	}{{"environment", env}, {".env", inFile}} {
		if text, ok := place.get(s.name); ok && strings.TrimSpace(text) != "" {
			return value{s, strings.TrimSpace(text), place.name}, nil
		}
		if path, ok := place.get(s.name + "_FILE"); ok && strings.TrimSpace(path) != "" {
			return fromFile(s, resolve(dir, strings.TrimSpace(path)))
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

// redactor knows every secret of the configuration.
func (c *config) redactor() *redact.Redactor {
	var secrets []string
	for _, v := range c.values {
		secrets = append(append(secrets, v.hidden()), v.inAddress()...)
	}
	return redact.New(secrets...)
}

// plain says of each secret that the redactor does not hide that it doesn't.
func (c *config) plain() []string {
	var lines []string
	for _, v := range c.values {
		if secret := v.hidden(); secret != "" && !redact.Protects(secret) {
			lines = append(lines, v.name+" is too short to be told from a common word: it is not kept out of replies, records and logs")
		}
	}
	return lines
}

// hidden is what of a value is secret: a key, or the password in a URL.
func (v value) hidden() string {
	if v.secret {
		return v.text
	}
	u, err := url.Parse(v.text)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

// inAddress is what may be secret in a URL beside a password: a user's name, which may be a token, and the values of a query.
func (v value) inAddress() []string {
	u, err := url.Parse(v.text)
	if v.secret || err != nil {
		return nil
	}
	all := []string{u.User.Username()}
	for _, values := range u.Query() {
		all = append(all, values...)
	}
	return all
}

// shown is a value as it may be printed.
func (v value) shown() string {
	switch {
	case v.text == "":
		return "–"
	case v.secret:
		return "(set, hidden)"
	}
	return anyAddress.ReplaceAllStringFunc(v.text, shownAddress)
}

// anyAddress is an address in a value, or what may be meant as one: a name and a password before a host.
var anyAddress = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s,]+|[^\s,]*:[^\s,]*@[^\s,]+`)

// shownAddress is an address without a user's name, a password, the values of a query and a fragment.
func shownAddress(address string) string {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.Scheme == "mailto":
		return address // whoever is to be written to
	case err != nil || u.Host == "":
		return "(no address, hidden)"
	}
	scheme, rest, _ := strings.Cut(address, "://")
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	host, path, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = redact.Mask + host[i:]
	}
	shown := scheme + "://" + host
	if slash {
		shown += "/" + path
	}
	if query != "" {
		shown += "?" + queryValue.ReplaceAllString(query, "${1}"+redact.Mask)
	}
	if fragment != "" {
		shown += "#" + redact.Mask
	}
	return shown
}

// queryValue is a parameter's value with its name, if it has one.
var queryValue = regexp.MustCompile(`([^&;=]*=)?[^&;=][^&;]*`)

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("it is not an http or https URL")
	}
	return nil
}

// prefixes reads addresses and CIDR prefixes.
func prefixes(text string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		p, err := netip.ParsePrefix(part)
		if addr, bad := netip.ParseAddr(part); bad == nil && addr.Zone() == "" {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a prefix such as 203.0.113.0/24", part)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

func checkHosts(text string) error {
	_, err := guard.NewDomains(strings.FieldsFunc(text, isBetween), nil)
	return err
}

func checkPrefixes(text string) error {
	_, err := prefixes(text)
	return err
}

func checkID(text string) error {
	if strings.Trim(text, "0123456789") != "" {
		return fmt.Errorf("it must be an id, a number such as 100000000000000001, not %q: switch on the developer mode and copy it from your profile", text)
	}
	return nil
}

func checkIDs(text string) error {
	for id := range strings.FieldsFuncSeq(text, isBetween) {
		if err := checkID(id); err != nil {
			return err
		}
	}
	return nil
}

func checkQuotas(text string) error {
	_, err := bot.ParseQuotas(text)
	return err
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

func checkCount(text string) error {
	if n, err := strconv.ParseInt(text, 10, 32); err != nil || n < 1 {
		return fmt.Errorf("it must be a whole number from 1 on, not %q", text)
	}
	return nil
}

// span returns the value of a setting that is a length of time.
func (c *config) span(name string) time.Duration {
	d, _ := time.ParseDuration(c.get(name))
	return d
}

func checkSpan(text string) error {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 {
		return fmt.Errorf("it must be a length of time such as 20s or 2m, not %q", text)
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(text string) error {
		if !slices.Contains(words, text) {
			last := len(words) - 1
			return fmt.Errorf("it must be %s or %s, not %q", strings.Join(words[:last], ", "), words[last], text)
		}
		return nil
	}
}
