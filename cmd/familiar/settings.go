package main

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

	"familiar/internal/bot"
	"familiar/internal/otlp"
	"familiar/internal/search/backends"
	"familiar/internal/web/guard"
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
		{name: "FAMILIAR_DATA", preset: "./data", about: "the directory of the database; an installed program without a directory data beside it keeps it in the user's own, $XDG_DATA_HOME/familiar"},
		{name: "FAMILIAR_KEEP_MESSAGES", preset: "30", about: "for how many days messages, and the names of those who wrote them, are kept", check: checkCount},
		{name: "FAMILIAR_KEEP_MEMORY", preset: "365", about: "for how many days what it learned by itself is kept; what somebody had it remember stays until it is forgotten", check: checkCount},
		{name: "FAMILIAR_KEEP_RECORDS", preset: "30", about: "for how many days the records of turns are kept", check: checkCount},
		{name: "FAMILIAR_KEEP_FEEDBACK", preset: "365", about: "for how many days is kept what people said of sources", check: checkCount},
		{name: "FAMILIAR_KEEP_USAGE", preset: "30", about: "for how many days is kept how much was used on each", check: checkCount},
		{name: "FAMILIAR_KEEP_CHANGES", preset: "30", about: "for how many days is kept who changed which setting", check: checkCount},
		{name: "FAMILIAR_DATA_MB", about: "how large the database may become, in megabytes; beyond that the oldest records go first, then the oldest messages; without it any size", check: checkCount},
		{name: "FAMILIAR_LEFT_SERVER_GRACE", preset: "24h", about: "how long all that is of a server is kept after the bot has left it", check: checkSpan},
		{name: "FAMILIAR_CHARACTERS", preset: "./characters", about: "the directory of your characters, or $XDG_CONFIG_HOME/familiar/characters; those built in are there without it"},
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
		{name: "FAMILIAR_CONSOLE", preset: "127.0.0.1:8807", about: "the address at which run serves the operator's pages; off: it does not", check: checkListen},
		{name: "FAMILIAR_CONSOLE_TOKEN", secret: true, about: "what must be typed to see these pages; without it they are served on this machine alone"},
		{name: "FAMILIAR_CONSOLE_HOSTS", about: "names by which these pages are reached, beside localhost, separated by commas: those of a proxy in front of them", check: checkConsoleHosts},
		{name: "FAMILIAR_LOG", preset: "info", about: "how much is logged", check: oneOf("debug", "info", "warn", "error")},
		{name: "FAMILIAR_LOG_FORMAT", preset: "text", about: "how the log is written; json is a JSON object a line, for programs", check: oneOf("text", "json")},
		{name: "FAMILIAR_METRICS", preset: nowhere, about: "an address of its own for /metrics, /healthz and /readyz, as 127.0.0.1:9464, beside the console, which serves them, too; profiles, too, where it is of the loopback network", check: checkListen},
		{name: "OTEL_EXPORTER_OTLP_ENDPOINT", about: "a collector of OpenTelemetry, as http://127.0.0.1:4318, to which turns are exported as traces, by OTLP over HTTP with JSON", check: checkURL},
		{name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", about: "the same with its path, which is /v1/traces otherwise", check: checkURL},
		{name: "OTEL_EXPORTER_OTLP_HEADERS", secret: true, about: "headers of each request to it, as name=value, separated by commas and percent-encoded", check: checkHeaders},
		{name: "OTEL_SERVICE_NAME", preset: "familiar", about: "what this program is called there"},
		{name: "OTEL_TRACES_EXPORTER", preset: "otlp", about: "none exports nothing, whatever else is set", check: oneOf("otlp", "none")},
		{name: "FAMILIAR_OTLP_CONTENT", preset: "off", about: "whether exported traces also have what people, pages and models say", check: oneOf("off", "on")},
	}
	for _, k := range backends.Keys() {
		all = append(all, setting{name: k.Name, secret: !k.Open, about: k.About, where: k.Where})
	}
	return all
}

const tokenHelp = "https://discord.com/developers/applications → your application → Bot → Reset Token"

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

func checkCount(text string) error {
	if n, err := strconv.ParseInt(text, 10, 32); err != nil || n < 1 {
		return fmt.Errorf("it must be a whole number from 1 on, not %q", text)
	}
	return nil
}

// nowhere is the address at which nothing is served.
const nowhere = "off"

func checkListen(text string) error {
	if text == nowhere {
		return nil
	}
	_, port, err := net.SplitHostPort(text)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return fmt.Errorf("it must be an address with a port such as 127.0.0.1:9464, or off, not %q", text)
	}
	return nil
}

func checkHeaders(text string) error {
	_, err := otlp.ParseHeaders(text)
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
