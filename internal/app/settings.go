package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/telemetry"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Setting is one variable of the environment. This table is the only list of them.
type Setting struct {
	Name   string
	Preset string // value if nothing is set
	Secret bool
	About  string // what it is for
	where  string // where to get it
	check  func(string) error
}

func Settings() []Setting {
	all := []Setting{
		{Name: "DISCORD_TOKEN", Secret: true, About: "the bot's token, for `familiar run`; none: without Discord"},
		{Name: "DISCORD_API_URL", Preset: "https://discord.com/api", About: "a Discord-compatible server", check: checkURL},
		{Name: "DISCORD_FILE_HOSTS", Preset: "cdn.discordapp.com,media.discordapp.net", About: "the hosts that files attached to messages may be loaded from, separated by commas", check: checkHosts},
		{Name: "DISCORD_OPERATOR", About: "your user id, if a Discord-compatible server does not say who may manage a server", check: checkID},
		{Name: "DISCORD_OPERATOR_CHANNEL", About: "the id of a channel that is told what is wrong with the characters' files, and what a reload changed", check: checkID},
		{Name: "FAMILIAR_ALERTS", Preset: "words 20s, errors 20%, lookups 50%, disk 500MB", About: "limits of figures of the last hour; DISCORD_OPERATOR_CHANNEL is told when one is passed, and when that is over. dollars 5 limits what a day costs; off: none", check: checkAlerts},
		{Name: "OPENAI_API_KEY", Secret: true, About: "the key of the model's server", where: "the server's account page; local servers need none"},
		{Name: "OPENAI_BASE_URL", About: "any OpenAI-compatible server, with its version: https://api.openai.com/v1", check: checkURL},
		{Name: "OPENAI_MODEL", About: "the model that answers; without it the server's first, or " + llm.OpenAIModel + " at OpenAI"},
		{Name: "OPENAI_FALLBACKS", About: "models of the same server to ask when it fails, separated by commas"},
		{Name: "OPENAI_VISION", Preset: "auto", About: "whether it is shown images; auto: until it refuses them", check: oneOf("auto", "on", "off")},
		{Name: "FAMILIAR_MODEL_REQUESTS", Preset: "64", About: "how many requests may run at once at each model server", check: checkCount},
		{Name: "FAMILIAR_FIRST_WORD", Preset: "20s", About: "how long a model may be silent before its first word; then the next is asked, or the person told", check: checkSpan},
		{Name: "SIDE_API_KEY", Secret: true, About: "the key of the side model's server; without it the main model's"},
		{Name: "SIDE_BASE_URL", About: "the server of the side model, which reads pages; without it the main model's", check: checkURL},
		{Name: "SIDE_MODEL", About: "the side model; without it the main one"},
		{Name: "FAMILIAR_LEARN", Preset: "on", About: "whether the side model notes what is worth remembering from conversations that the bot takes part in; about people only if they agreed (/memory on)", check: oneOf("on", "off")},
		{Name: "FAMILIAR_LEARN_PER_HOUR", Preset: "20", About: "how often in an hour the side model is asked for that", check: checkCount},
		{Name: "TRANSCRIBE_API_KEY", Secret: true, About: "the key of the server that transcribes voice messages"},
		{Name: "TRANSCRIBE_BASE_URL", About: "an OpenAI-compatible server with /audio/transcriptions, with its version, which is sent voice messages for the bot; without it they are not transcribed", check: checkURL},
		{Name: "TRANSCRIBE_MODEL", Preset: "whisper-1", About: "the model that transcribes voice messages"},
		{Name: "SPEECH_API_KEY", Secret: true, About: "the key of the server that says replies aloud"},
		{Name: "SPEECH_BASE_URL", About: "an OpenAI-compatible server with /audio/speech, with its version, which is sent the words of replies that somebody wants to hear; without it there are no voice messages", check: checkURL},
		{Name: "SPEECH_MODEL", Preset: "tts-1", About: "the model that says replies aloud"},
		{Name: "SPEECH_VOICE", Preset: "alloy", About: "the voice of characters without one of their own"},
		{Name: "EMBED_API_KEY", Secret: true, About: "the key of the server that makes vectors of messages"},
		{Name: "EMBED_BASE_URL", About: "an OpenAI-compatible server with /embeddings, with its version, which is sent the texts of all messages that are kept, so that they are recalled by their meaning, too; without it only by their words", check: checkURL},
		{Name: "EMBED_MODEL", Preset: "text-embedding-3-small", About: "the model that makes vectors; after a change all vectors are made again"},
		{Name: "FAMILIAR_VERIFY", Preset: "off", About: "whether the side model is also asked if the cited pages support a reply; the end of the reply then waits up to 6 seconds for it", check: oneOf("off", "on")},
		{Name: "SEARXNG_URL", About: "a SearXNG instance, best your own", where: "https://docs.searxng.org", check: checkURL},
		{Name: "SEARXNG_DEPTH", Preset: "basic", About: "which engines it asks; advanced asks more of them", check: oneOf("basic", "advanced")},
		{Name: "FAMILIAR_SEARCH", About: "the search backends to use, by name and in the order of asking, separated by commas; without it all that can be used"},
		{Name: "FAMILIAR_SEARCH_OFF", About: "search backends not to use, by name, separated by commas"},
		{Name: "FAMILIAR_SEARCH_LIMITS", About: "how often search backends may be asked, instead of the limits of their free plans: brave=2000/month, newsapi=100/day, searxng=5/second"},
		{Name: "FAMILIAR_DATA", Preset: "./data", About: "the directory of the database; an installed program without a directory data beside it keeps it in the user's own, $XDG_DATA_HOME/familiar"},
		{Name: "FAMILIAR_DATABASE", About: "a PostgreSQL database instead of the file in that directory: postgres://user:password@host/name", check: checkDatabase},
		{Name: "FAMILIAR_KEEP_MESSAGES", Preset: "30", About: "for how many days messages, and the names of those who wrote them, are kept", check: checkCount},
		{Name: "FAMILIAR_KEEP_MEMORY", Preset: "365", About: "for how many days what it learned by itself is kept; what somebody told it to remember stays until they have it forgotten", check: checkCount},
		{Name: "FAMILIAR_KEEP_RECORDS", Preset: "30", About: "for how many days the records of turns are kept", check: checkCount},
		{Name: "FAMILIAR_KEEP_FEEDBACK", Preset: "365", About: "for how many days feedback on sources is kept", check: checkCount},
		{Name: "FAMILIAR_KEEP_USAGE", Preset: "30", About: "for how many days the usage of each day is kept", check: checkCount},
		{Name: "FAMILIAR_KEEP_CHANGES", Preset: "30", About: "for how many days changes of settings are kept", check: checkCount},
		{Name: "FAMILIAR_DATA_MB", About: "how large the database may become, in megabytes; beyond that the oldest records go first, then the oldest messages; without it any size", check: checkCount},
		{Name: "FAMILIAR_LEFT_SERVER_GRACE", Preset: "24h", About: "how long a server's data is kept after the bot has left it", check: checkSpan},
		{Name: "FAMILIAR_CHARACTERS", Preset: "./characters", About: "the directory of your characters, or $XDG_CONFIG_HOME/familiar/characters; those built in are there without it"},
		{Name: "FAMILIAR_IMPORT", Preset: "on", About: "whether people who may manage a server may import characters' cards there", check: oneOf("on", "off")},
		{Name: "FAMILIAR_CHARACTER", Preset: "sage", About: "the character that answers"},
		{Name: "FAMILIAR_TURNS_PER_MINUTE", Preset: "20", About: "how many answers a person may ask for in a minute", check: checkCount},
		{Name: "FAMILIAR_QUOTAS", About: "how much may be used on a day of UTC: person 50 turns, channel 20 lookups, server 2000000 tokens, all 5 dollars", check: checkQuotas},
		{Name: "FAMILIAR_SHARDS", About: "into how many shards the gateway splits the bot's servers; without it as many as Discord recommends, one for about 1,000 servers", check: checkCount},
		{Name: "DISCORD_ALLOW", About: "ids of people, roles, channels and servers, separated by commas: nobody else is answered, and nowhere else", check: checkIDs},
		{Name: "DISCORD_DENY", About: "ids of people, roles, channels and servers that are not answered, separated by commas", check: checkIDs},
		{Name: "DISCORD_PROXIES", Preset: "466378653216014359,431544605209788416", About: "ids of applications whose webhooks write for people, separated by commas; preset: PluralKit and Tupperbox; 0 for none", check: checkIDs},
		{Name: "FAMILIAR_CONTACT", About: "the address at which site owners reach you; sent as part of the User-Agent"},
		{Name: "FAMILIAR_WEB", Preset: "on", About: "whether anything may be looked up at all", check: oneOf("on", "off")},
		{Name: "FAMILIAR_WEB_DENY", About: "addresses and CIDR prefixes that no page may be on, in addition to those that are never public, separated by commas: those at which this machine's network is reached from outside", check: checkPrefixes},
		{Name: "FAMILIAR_WEB_CACHE", About: "a directory that keeps pages after a restart, for as long as their sites allow and an hour at most, and what searches found, for a day; without it they are only in memory"},
		{Name: "FAMILIAR_WEB_CACHE_MB", Preset: "64", About: "how large that directory may grow, in megabytes, an eighth of it for searches", check: checkCount},
		{Name: "FAMILIAR_CONSOLE", Preset: "127.0.0.1:8807", About: "the address at which run serves the operator's pages; off: it does not", check: checkListen},
		{Name: "FAMILIAR_CONSOLE_TOKEN", Secret: true, About: "what must be typed to see these pages; without it they are served only on this machine"},
		{Name: "FAMILIAR_CONSOLE_PATH", About: "the path under which a proxy serves these pages, such as /familiar", check: checkConsolePath},
		{Name: "FAMILIAR_CONSOLE_PROXY", About: "addresses and CIDR prefixes of proxies in front of these pages, separated by commas: what they say in X-Forwarded-For is believed", check: checkPrefixes},
		{Name: "FAMILIAR_CONSOLE_HOSTS", About: "names by which these pages are reached, other than localhost, separated by commas: those of a proxy in front of them", check: checkConsoleHosts},
		{Name: "FAMILIAR_LOG", Preset: "info", About: "how much is logged", check: oneOf("debug", "info", "warn", "error")},
		{Name: "FAMILIAR_LOG_FORMAT", Preset: "text", About: "how the log is written; json is a JSON object a line, for programs", check: oneOf("text", "json")},
		{Name: "FAMILIAR_METRICS", Preset: Nowhere, About: "a separate address for /metrics, /healthz and /readyz, such as 127.0.0.1:9464; the console serves them, too. A loopback address also serves profiles", check: checkListen},
		{Name: "OTEL_EXPORTER_OTLP_ENDPOINT", About: "an OpenTelemetry collector, such as http://127.0.0.1:4318, that turns are exported to as traces, by OTLP over HTTP with JSON", check: checkURL},
		{Name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", About: "the same with its path, if that is not /v1/traces", check: checkURL},
		{Name: "OTEL_EXPORTER_OTLP_HEADERS", Secret: true, About: "headers of each request to it, as name=value, separated by commas and percent-encoded", check: checkHeaders},
		{Name: "OTEL_SERVICE_NAME", Preset: "familiar", About: "the name of this program there"},
		{Name: "OTEL_TRACES_EXPORTER", Preset: "otlp", About: "none exports nothing, whatever else is set", check: oneOf("otlp", "none")},
		{Name: "FAMILIAR_OTLP_CONTENT", Preset: "off", About: "whether exported traces also have what people, pages and models say", check: oneOf("off", "on")},
	}
	for _, k := range backend.Keys() {
		all = append(all, Setting{Name: k.Name, Secret: !k.Open, About: k.About, where: k.Where})
	}
	return all
}

func checkDatabase(text string) error {
	if text != "" && !store.IsServer(text) {
		return errors.New("it does not begin with postgres://")
	}
	return nil
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if !strings.Contains(text, "://") {
		return errors.New("it does not begin with http:// or https://")
	}
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
	_, err := clean.NewDomains(strings.FieldsFunc(text, isBetween), nil)
	return err
}

func checkPrefixes(text string) error {
	_, err := prefixes(text)
	return err
}

func checkID(text string) error {
	if strings.Trim(text, "0123456789") != "" {
		return fmt.Errorf("it must be an id, a number such as 100000000000000001, not %q: switch on the developer mode and copy it from the menu of the person or channel", text)
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
	_, err := gate.ParseQuotas(text)
	return err
}

func checkCount(text string) error {
	if n, err := strconv.ParseInt(text, 10, 32); err != nil || n < 1 {
		return fmt.Errorf("it must be a whole number from 1 on, not %q", text)
	}
	return nil
}

// Nowhere is the address at which nothing is served.
const Nowhere = "off"

func checkListen(text string) error {
	if text == Nowhere {
		return nil
	}
	_, port, err := net.SplitHostPort(text)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return fmt.Errorf("it must be an address with a port such as 127.0.0.1:9464, or off, not %q", text)
	}
	return nil
}

func checkHeaders(text string) error {
	_, err := telemetry.ParseOTLPHeaders(text)
	return err
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
	if store.IsServer(v.Text) { // the user's name is no token, and the options are no secret
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
