package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/llm"
	"familiar/internal/search/backend"
	"familiar/internal/text"
)

// Installation is what an examination looks at. If Wrong is set, only Wrong, Misspelt and Redact are used.
type Installation struct {
	Wrong    []string                 // what is wrong with the configuration
	Misspelt []string                 // variables that are probably misspelt settings
	Setting  func(name string) string // the value of a setting, "" if it is not set
	Set      int                      // how many settings the operator has set
	Redact   func(string) string      // removes secrets from a text

	Character string   // the name of the character that answers
	Others    []string // the names of the operator's other characters
	Broken    []string // what is wrong with those that cannot be loaded
	Mode      string   // its usual mode
	Prompt    int      // tokens that a prompt in that mode may have
	Reactions bool     // it asks for people's reactions
	Pictured  bool     // one of all characters has pictures of its moods

	Discord       discord.Config // with its own HTTP client
	Models        func(context.Context) (Models, error)
	Backends      *backend.Set
	Probe         func(context.Context, []backend.Status) // asks each of them, and keeps the answers there
	Embeddings    func() (*Service, error)                // a nil service: none is configured
	Transcription *Service                                // nil: none is configured
	Speech        *Service                                // nil: none is configured
	// Visit reads a page up to the point of connecting, while its name has these answers. Resolve looks a name up.
	Visit   func(ctx context.Context, url string, answers ...[]netip.Addr) (reason turn.Code, dialed []string, err error)
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	Turn    func(ctx context.Context, question string) (*turn.Trace, error) // answers a question as the bot does, and keeps nothing

	Data     string                          // the directory of the database
	Disk     string                          // that directory, or the nearest one above it that exists
	Writable func() error                    // reports why nothing can be written there
	Place    string                          // of the store: that directory, or a server
	Root     fs.FS                           // the file system of this machine, with /proc and /sys
	Free     func(dir string) (int64, error) // bytes left on the disk of a directory

	Close func() error // releases all of this; nil: there is nothing to release
}

// Service is an optional service, beside the models. Try asks it something, and returns what came of that and what it said to a failure.
type Service struct {
	Model, Host string
	Try         func(context.Context) (status turn.Code, detail string)
}

// Models are the models of the character that answers. Both are nil if none is configured.
type Models struct {
	Main, Side           *llm.Client
	MainNames, SideNames Names
	Where, SideWhere     string // their servers, without secrets
	How                  string // how the main model was chosen if nobody named it, in brackets
}

func (i *Installation) count(name string) int {
	n, _ := strconv.Atoi(i.Setting(name))
	return n
}

func (i *Installation) span(name string) time.Duration {
	d, _ := time.ParseDuration(i.Setting(name))
	return d
}

// Examination looks at one installation. The caller must Close it.
type Examination struct {
	Installation
	Brief bool // a model is asked for one word only

	clock  clockReading
	invite string // set by the check of Discord

	choosing sync.Once // of the models
	models   Models
	silent   bool  // the main model does not answer
	lost     bool  // no search service answers
	noModels error // why there are none although some are configured
}

// Close releases the installation.
func (e *Examination) Close() error {
	if e.Installation.Close == nil {
		return nil
	}
	return e.Installation.Close()
}

// searchTime is the limit of the search services' check.
const searchTime = backend.ProbeTime + 5*time.Second

// checks are those of the whole installation. If the configuration is wrong, the other checks are skipped: nothing else can be relied on.
func (e *Examination) checks() []Check {
	all := []Check{
		{ID: "configuration", Limit: time.Second, Run: e.configuration},
		{ID: "discord", Limit: 30 * time.Second, Run: e.discord},
		{ID: "model", Limit: 90 * time.Second, Run: e.mainModel},
		{ID: "side", Limit: 90 * time.Second, Run: e.sideModel},
		{ID: "search", Limit: searchTime, Run: e.searches},
		{ID: "embeddings", Limit: 65 * time.Second, Run: e.embeddings},
		{ID: "transcription", Limit: 65 * time.Second, Run: e.transcription},
		{ID: "speech", Limit: 65 * time.Second, Run: e.speech},
		{ID: "guard", Limit: 10 * time.Second, Run: e.guard},
		{ID: "dns", Limit: 10 * time.Second, Run: e.dns},
		{ID: "turn", Limit: 2 * time.Minute, Run: e.turn, Last: true}, // a small machine answers one question at a time
		{ID: "database", Limit: 30 * time.Second, Run: e.database},
		{ID: "console", Limit: time.Second, Run: e.console},
		{ID: "encryption", Limit: 5 * time.Second, Run: e.encryption},
		{ID: "clock", Limit: 30 * time.Second, Run: e.time, Last: true}, // the answers to the other checks tell the time
	}
	if e.Wrong == nil {
		return all
	}
	for i := range all[1:] {
		id := all[i+1].ID
		all[i+1].Run = func(context.Context) []Finding {
			return []Finding{{ID: id, State: Skipped, Text: "The configuration must be fixed first."}}
		}
	}
	return all
}

// CheckIDs returns the ids of all checks, in the order in which their findings are shown.
func CheckIDs() (ids []string) {
	for _, c := range (&Examination{}).checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

// Only returns the checks with these ids, or all checks for none. The error names an id that does not exist.
func (e *Examination) Only(ids ...string) ([]Check, error) {
	all, known := e.checks(), CheckIDs()
	for _, id := range ids {
		if !slices.Contains(known, id) {
			cure := "there are " + strings.Join(known, ", ")
			if near := text.Nearest(id, known); near != "" {
				cure = "did you mean " + near + "?"
			}
			return nil, fmt.Errorf("there is no check %s; %s", id, cure)
		}
	}
	if len(ids) == 0 {
		return all, nil
	}
	if e.Wrong != nil { // else nobody learns why the others are skipped
		ids = append(ids, "configuration")
	}
	return slices.DeleteFunc(all, func(c Check) bool { return !slices.Contains(ids, c.ID) }), nil
}

// Examine carries out checks. The findings hold no secret. If ctx ends first there are none, and the error is its cause.
func (e *Examination) Examine(ctx context.Context, checks []Check, progress Progress) ([]Finding, error) {
	told := progress
	if progress != nil {
		told = func(now Standing) {
			now.Found = e.redacted(now.Found)
			progress(now)
		}
	}
	found := e.redacted(Run(ctx, checks, told))
	if ctx.Err() != nil {
		return found, context.Cause(ctx)
	}
	return found, nil
}

// ExamineAll carries out all checks, and returns what they found until ctx ended.
func (e *Examination) ExamineAll(ctx context.Context, progress Progress) []Finding {
	found, _ := e.Examine(ctx, e.checks(), progress)
	return found
}

// redacted removes secrets from findings: a server may have repeated one.
func (e *Examination) redacted(found []Finding) []Finding {
	for i := range found {
		f := &found[i]
		f.Subject, f.Text, f.Cure = e.Redact(f.Subject), e.Redact(f.Text), e.Redact(f.Cure)
		if f.Set != nil && e.Redact(f.Set.Value) != f.Set.Value {
			f.Set = nil
		}
	}
	return found
}

func (e *Examination) configuration(context.Context) (found []Finding) {
	for _, text := range e.Misspelt {
		found = append(found, Finding{ID: "configuration", State: Warning, Text: text, Cure: "change the name, or remove the variable"})
	}
	for _, text := range e.Broken {
		found = append(found, Finding{ID: "configuration", State: Warning, Text: text, Cure: "fix the file; until then the character does not answer"})
	}
	if e.Wrong == nil {
		return append(found, Finding{ID: "configuration", State: OK, Text: fmt.Sprintf("It is valid, with %s set; %s answers.", number(e.Set, "setting"), e.Character)})
	}
	for _, text := range e.Wrong {
		what, more, _ := strings.Cut(text, "\n")
		found = append(found, Finding{ID: "configuration", State: Failure, Text: what, Cure: cmp.Or(strings.Join(strings.Fields(more), " "), "fix it in .env or in the environment")})
	}
	return found
}

// turnQuestion is about what every encyclopedia has.
const turnQuestion = "When was Ada Lovelace born?"

// turn has the bot answer a question. It runs after the checks of what a turn needs.
func (e *Examination) turn(ctx context.Context) []Finding {
	switch {
	case e.silent:
		return []Finding{{ID: "turn", State: Skipped, Text: "The model must answer first."}}
	case e.lost:
		return []Finding{{ID: "turn", State: Skipped, Text: "A search service must answer first."}}
	}
	t, err := e.Turn(ctx, turnQuestion)
	return []Finding{judgeTurn(t, err, e.Setting("FAMILIAR_WEB") == "off")}
}

// judgeTurn judges a whole turn by its record.
func judgeTurn(t *turn.Trace, err error, webOff bool) Finding {
	f := Finding{ID: "turn", State: OK}
	if err != nil {
		f.State, f.Text, f.Cure = Failure, "No question could be asked: "+err.Error()+".", "see what the other checks say; the bot's log has more"
		return f
	}
	l := t.Lookup()
	if l == nil {
		l = &turn.Lookup{}
	}
	const look = `familiar ask --trace "` + turnQuestion + `" shows each step`
	f.Text = fmt.Sprintf("A question was answered after %s, from %s.", ms(t.Took), number(len(l.Sources), "source"))
	switch {
	case t.Phase == turn.Broken:
		f.State, f.Text, f.Cure = Failure, "A question was not answered: "+strings.TrimRight(t.Err, ".")+".", cmp.Or(t.Cure, look)
	case webOff:
		f.Text = fmt.Sprintf("A question was answered after %s. Lookups are off.", ms(t.Took))
	case l.State == turn.LookupFailed:
		f.State, f.Text, f.Cure = Failure, "The lookup for a question failed: "+reason(l.Failure, l.Reason)+".", look
	case len(l.Sources) == 0:
		f.State, f.Text, f.Cure = Warning, fmt.Sprintf("A question was answered after %s, but nothing was found for it.", ms(t.Took)), look
	case t.Uncited:
		f.State, f.Text, f.Cure = Warning, f.Text+" The model named none of them.", "take a model that follows instructions better; "+look
	case t.Took > longestAnswer:
		f.State, f.Cure = Warning, "take a faster model or server; "+look
		f.Text += fmt.Sprintf(" People would wait longer than %v.", longestAnswer)
	}
	return f
}
