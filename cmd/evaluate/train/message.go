package train

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"familiar/internal/question"
	"familiar/internal/text"
)

// message is a row of the sets needs-search and intent, which share some rows, or one of our own.
type message struct {
	Text   string
	Label  *int   // needs-search: 1 or 0; nil for rows that are not scored
	Cls    string // needs-search: source and class, as in "clinc-weather"
	Intent string // intent
	Source string // intent: source, as in "clinc" or "clinc-timer"

	lang     string // of our own: the folder
	file     string // and the file, without its extension
	led      string // Text after what people say before a question, or ""
	features []text.Feature
}

// ledShare chooses one of so many own messages to be learned with something before it, too. In English that makes chat look like questions.
const ledShare = 2

// source returns where a message comes from, without its class.
func (m message) source() string {
	from := m.Cls
	if m.foreign() {
		return m.lang
	}
	if from == "" {
		from = m.Source
	}
	from, _, _ = strings.Cut(from, "-")
	return strings.TrimSuffix(from, "amb")
}

func (m message) own() bool { return m.Source == "own" }

// foreign reports whether a message is in a language other than English.
func (m message) foreign() bool { return m.lang != "" && m.lang != "en" }

func readMessages(dir string) ([]message, error) {
	var all []message
	index := map[string]int{}
	add := func(m message) {
		at, ok := index[m.Text]
		if !ok {
			at = len(all)
			index[m.Text] = at
			all = append(all, message{Text: m.Text, lang: m.lang, file: m.file})
		}
		switch both := &all[at]; {
		case m.own() && ok: // test rows are never trained on
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
	s, err := readFollowUps()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.foreign() && spread(m.Text)%ledShare == 0 {
			m.led = s.led(m.lang, m.Text)
			all = append(all, m)
		}
	}
	for i := range all {
		features := question.NeedFeatures
		if all[i].foreign() {
			features = question.MultilingualFeatures
		}
		all[i].features = features(cmp.Or(all[i].led, all[i].Text))
	}
	return all, nil
}

// own holds the project's own messages, of kinds that are rare or missing in the public sets. Each language has a folder. A file is named
// after the intent of its messages, or "none". A message is a line.
//
//go:embed own/*/*.txt
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
		kind := strings.TrimSuffix(path.Base(name), ".txt")
		intent, _, _ := strings.Cut(kind, "-")
		for line := range strings.Lines(string(file)) {
			if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "# ") {
				add(message{Text: text, Intent: intent, Source: "own", lang: path.Base(path.Dir(name)), file: kind})
			}
		}
		return nil
	})
}

func needTask(messages []message) task {
	t := task{file: "question/need.model", classes: []string{"stay", "look"}, penalty: 2, seldom: 2}
	for _, m := range messages {
		if m.wanted() != "" && !m.foreign() {
			t.rows = append(t.rows, example{text: m.Text, source: m.source(), features: m.features, class: yes(m.wanted() != "none")})
		}
	}
	return t
}

// classIntents are the intents of classes of needs-search, if not "general".
var classIntents = map[string]string{
	"weather": "weather", "weather_query": "weather", "news_query": "news", "recipe": "howto", "cooking_recipe": "howto",
}

func intentTask(messages []message) task {
	t := task{file: "question/intent.model", classes: []string{"weather", "news", "person", "howto", "media", "general", "none"}, penalty: 2, seldom: 2}
	for _, m := range messages {
		if class := slices.Index(t.classes, m.wanted()); class >= 0 && !m.foreign() {
			t.rows = append(t.rows, example{text: m.Text, source: m.source(), features: m.features, class: class})
		}
	}
	return t
}

// multilingualTask is the intent of a message in a language other than English, or why it has none.
func multilingualTask(messages []message) task {
	t := task{file: "question/multilingual.model", seldom: 2, lasso: 1.0, classes: []string{"weather", "news", "person", "howto", "media", "general", "none-talk", "none-opinion", "none-orders", "none-rooms"}}
	for _, m := range messages {
		if m.foreign() {
			t.rows = append(t.rows, example{text: m.Text, source: m.lang, features: m.features, class: slices.Index(t.classes, m.file), again: m.led != ""})
		}
	}
	return t
}

// englishTask is whether a message is in English.
func englishTask(messages []message) task {
	t := task{file: "question/english.model", seldom: 3, lasso: 2, classes: []string{"english", "other"}}
	for _, m := range messages {
		if m.lang != "" && m.led == "" {
			t.rows = append(t.rows, example{text: m.Text, source: m.lang, features: question.EnglishFeatures(m.Text), class: yes(m.foreign())})
		}
	}
	return t
}

// wanted returns the intent of a message, or the likeliest one if the sets do not give it. It is "" if it is unknown.
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
