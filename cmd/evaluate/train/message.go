package train

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"familiar/internal/linear"
	"familiar/internal/lookup/need"
)

// message is a line of the sets needs-search and intent, which share some, or one of our own.
type message struct {
	Text   string
	Label  *int   // needs-search: 1 or 0, or none for rows that are only watched
	Cls    string // needs-search: source and class, as in "clinc-weather"
	Intent string // intent
	Source string // intent: source, as in "clinc" or "clinc-timer"

	features []linear.Feature
}

// source is where a message comes from, without its class.
func (m message) source() string {
	from := m.Cls
	if from == "" {
		from = m.Source
	}
	from, _, _ = strings.Cut(from, "-")
	return strings.TrimSuffix(from, "amb")
}

func (m message) own() bool { return m.Source == "own" }

func readMessages(dir string) ([]message, error) {
	var all []message
	index := map[string]int{}
	add := func(m message) {
		at, ok := index[m.Text]
		if !ok {
			at = len(all)
			index[m.Text] = at
			all = append(all, message{Text: m.Text})
		}
		switch both := &all[at]; {
		case m.own() && ok: // never one that is tested on
		case m.Intent != "":
			both.Intent, both.Source = m.Intent, m.Source
		default:
			both.Label, both.Cls = m.Label, m.Cls
		}
	}
	for _, set := range []string{"intent", "needs-search"} {
		rows, err := readSet[message](dir, set)
		if err != nil {
			return nil, err
		}
		for _, m := range rows {
			add(m)
		}
	}
	if err := readOwn(add); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].features = need.Features(all[i].Text)
	}
	return all, nil
}

// own are the project's own messages: what people write of which the public sets hold little. A file is named after
// what its messages are looked up for, "none" for nothing; a message is a line.
//
//go:embed own/*.txt
var own embed.FS

func readOwn(add func(message)) error {
	return fs.WalkDir(own, "own", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := own.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read own messages: %w", err)
		}
		intent, _, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".txt"), "-")
		for line := range strings.Lines(string(file)) {
			if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "# ") {
				add(message{Text: text, Intent: intent, Source: "own"})
			}
		}
		return nil
	})
}

func needTask(messages []message) task {
	t := task{file: "need/need.model", classes: []string{"stay", "look"}, penalty: 2, seldom: 2}
	for _, m := range messages {
		if m.wanted() != "" {
			t.rows = append(t.rows, example{text: m.Text, source: m.source(), features: m.features, class: yes(m.wanted() != "none")})
		}
	}
	return t
}

// classIntents are the classes of needs-search that say what is wanted, where it is not "general".
var classIntents = map[string]string{
	"weather": "weather", "weather_query": "weather", "news_query": "news", "recipe": "howto", "cooking_recipe": "howto",
}

func intentTask(messages []message) task {
	t := task{file: "need/intent.model", classes: []string{"weather", "news", "person", "howto", "media", "general", "none"}, penalty: 2, seldom: 2}
	for _, m := range messages {
		if class := slices.Index(t.classes, m.wanted()); class >= 0 {
			t.rows = append(t.rows, example{text: m.Text, source: m.source(), features: m.features, class: class})
		}
	}
	return t
}

// wanted is the intent of a message, where the sets do not say it the likeliest; "" if it is not known.
func (m message) wanted() string {
	switch {
	case m.Intent != "":
		return m.Intent
	case m.source() == "irc", m.Label != nil && *m.Label == 0:
		return "none"
	case m.Label == nil, m.source() == "metatool":
		return ""
	}
	_, class, _ := strings.Cut(m.Cls, "-")
	switch intent := classIntents[class]; {
	case intent != "":
		return intent
	case strings.HasPrefix(strings.ToLower(m.Text), "who "):
		return "person"
	}
	return "general"
}
