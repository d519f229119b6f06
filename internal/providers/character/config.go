package character

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// config is the content of character.toml. Its fields are the only list of known keys. characters/_default/character.toml has their
// defaults and explains them.
type config struct {
	Name      string          `toml:"name"`
	Nickname  string          `toml:"nickname"`
	Version   string          `toml:"version"`
	Aliases   []string        `toml:"aliases"`
	Mode      string          `toml:"mode"`
	DisplayTZ string          `toml:"display_tz"`
	Triggers  triggersConfig  `toml:"triggers"`
	Web       webConfig       `toml:"web"`
	Reply     replyConfig     `toml:"reply"`
	Chatter   chatterConfig   `toml:"chatter"`
	Reactions reactionsConfig `toml:"reactions"`
	History   historyConfig   `toml:"history"`
	Server    serverConfig    `toml:"server"`
	Recall    recallConfig    `toml:"recall"`
	Model     Model           `toml:"model"`
	SideModel Model           `toml:"side_model"`
	Texts     Texts           `toml:"texts"`
	Modes     modesConfig     `toml:"modes"`
	Persona   personaConfig   `toml:"persona"`
	Greetings greetingsConfig `toml:"greetings"`
	Depth     depthConfig     `toml:"depth_prompt"`
	Voice     Voice           `toml:"voice"`
	Faces     facesConfig     `toml:"expressions"`
	Docs      []docsConfig    `toml:"docs"`
}

type greetingsConfig struct {
	First   int  `toml:"first"`
	Threads bool `toml:"threads"`
}

type facesConfig struct {
	Habit bool `toml:"habit"`
}

type depthConfig struct {
	Depth int    `toml:"depth"`
	Role  string `toml:"role"`
}

type personaConfig struct {
	Avatar        string `toml:"avatar"`
	ServerProfile bool   `toml:"server_profile"`
}

type triggersConfig struct {
	Names    bool     `toml:"names"`
	Patterns []string `toml:"patterns"`
}

type webConfig struct {
	Enabled      bool          `toml:"enabled"`
	Allow        []string      `toml:"allow"`
	Deny         []string      `toml:"deny"`
	DeniedTopics []string      `toml:"denied_topics"`
	Depth        string        `toml:"depth"`
	Backends     []string      `toml:"backends"`
	BlockRole    string        `toml:"block_role"`
	BlockBytes   int           `toml:"block_bytes"`
	Queries      int           `toml:"queries"`
	Pages        int           `toml:"pages"`
	PerDomain    int           `toml:"per_domain"`
	PerMinute    int           `toml:"per_minute"`
	PerSession   int           `toml:"per_session"`
	PerDay       int           `toml:"per_day"`
	Deadline     Duration      `toml:"deadline"`
	Trusted      trustedConfig `toml:"trusted"`
}

// trustedConfig has the sites trusted for each intent.
type trustedConfig struct {
	Only      []string `toml:"only"`
	Weather   []string `toml:"weather"`
	Person    []string `toml:"person"`
	News      []string `toml:"news"`
	FactCheck []string `toml:"fact_check"`
	Forum     []string `toml:"forum"`
	Image     []string `toml:"image"`
	Video     []string `toml:"video"`
	Docs      []string `toml:"docs"`
	HowTo     []string `toml:"howto"`
	General   []string `toml:"general"`
}

// byIntent returns the lists by the names of their intents.
func (t trustedConfig) byIntent() map[string][]string {
	return map[string][]string{
		"weather": t.Weather, "person": t.Person, "news": t.News, "fact_check": t.FactCheck, "forum": t.Forum,
		"image": t.Image, "video": t.Video, "docs": t.Docs, "howto": t.HowTo, "general": t.General,
	}
}

// Intents returns the kinds of questions for which sites can be trusted.
func Intents() []string { return slices.Sorted(maps.Keys(trustedConfig{}.byIntent())) }

type docsConfig struct {
	Name   string `toml:"name"`
	URL    string `toml:"url"`
	Search string `toml:"search"`
}

type replyConfig struct {
	Buttons         bool   `toml:"buttons"`
	QuestionDeleted string `toml:"question_deleted"`
}

type chatterConfig struct {
	PerDay int `toml:"per_day"`
}

type reactionsConfig struct {
	Follow bool   `toml:"follow"`
	Seen   string `toml:"seen"`
	Reply  bool   `toml:"reply"`
}

type serverConfig struct {
	Enabled       bool `toml:"enabled"`
	DiscordSearch bool `toml:"discord_search"`
}

type recallConfig struct {
	Filter bool `toml:"filter"`
}

type historyConfig struct {
	Window int `toml:"window"`
}

type modesConfig struct {
	FullRP       modeConfig `toml:"full_rp"`
	Text         modeConfig `toml:"text"`
	ImitateVoice modeConfig `toml:"imitate_voice"`
}

type modeConfig struct {
	Total    int          `toml:"total"`
	Deadline Duration     `toml:"deadline"`
	Web      bool         `toml:"web"`
	Think    string       `toml:"think"`
	Recast   string       `toml:"recast"`
	Layers   layersConfig `toml:"layers"`
}

type layersConfig struct {
	Core           int `toml:"core"`
	Character      int `toml:"character"`
	Content        int `toml:"content"`
	HistorySummary int `toml:"history_summary"`
	RecentHistory  int `toml:"recent_history"`
	AuthorNote     int `toml:"author_note"`
	DepthInject    int `toml:"depth_inject"`
	Attached       int `toml:"attached"`
	Lorebook       int `toml:"lorebook"`
}

// Duration is a duration as written in a file: "24s", "1m30s".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler with time.ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// key is a known key of character.toml.
type key struct {
	name  string // dotted
	typ   reflect.Type
	table bool
	list  bool // a list of tables
	// optional is set for lists of tables and the keys in them, which have no default.
	optional bool
}

// keys returns every key of character.toml. A table comes before the keys in it.
func keys() []key { return keysOf(reflect.TypeFor[config](), "") }

func keysOf(t reflect.Type, prefix string) []key {
	var all []key
	for i := range t.NumField() {
		f := t.Field(i)
		k := key{name: prefix + f.Tag.Get("toml"), typ: f.Type, table: f.Type.Kind() == reflect.Struct}
		k.list = f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct
		k.optional = k.list
		all = append(all, k)
		switch {
		case k.table:
			all = append(all, keysOf(f.Type, k.name+".")...)
		case k.list:
			for _, item := range keysOf(f.Type.Elem(), k.name+".") {
				item.optional = true
				all = append(all, item)
			}
		}
	}
	return all
}

// wants describes the values that a key accepts.
func (k key) wants() string {
	switch {
	case k.table:
		return "a table, as in [" + k.name + "]"
	case k.list:
		return "a table for each, as in [[" + k.name + "]]"
	case k.typ == reflect.TypeFor[Duration]():
		return `a duration in quotes, such as "24s" or "1m30s"`
	}
	switch k.typ.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float32:
		return "a number"
	case reflect.Slice:
		return `a list of texts, such as ["one", "two"]`
	}
	return "a text in quotes"
}

// known returns the names of the keys directly in the table with a prefix.
func known(all []key, prefix string) []string {
	var names []string
	for _, k := range all {
		if rest, ok := strings.CutPrefix(k.name, prefix); ok && !strings.Contains(rest, ".") {
			names = append(names, k.name)
		}
	}
	return names
}
