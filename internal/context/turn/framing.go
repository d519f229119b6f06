package turn

import "strings"

// Framing is what a quote is on its page, where its words alone don't tell. Every string is the page's.
type Framing struct {
	Role     Role     `json:"role,omitempty"`
	Denied   Denial   `json:"denied,omitempty"`   // how the page says that it is not so; empty: it does not
	Words    string   `json:"words,omitempty"`    // by which it is denied
	Header   string   `json:"header,omitempty"`   // the first row of the table that it is a row of
	Question string   `json:"question,omitempty"` // the heading that it answers with yes or no
	Under    string   `json:"under,omitempty"`    // a heading that speaks of what is not so, below which it may be put right
	Path     []string `json:"path,omitempty"`     // the headings above it, outermost first
}

// Role is whose word a quote is, or of which world.
type Role string

// The roles. A quote of none is what its page says in its own name.
const (
	RoleQuotation Role = "quotation" // the page quotes somebody
	RoleComment   Role = "comment"   // a user of the site wrote it
	RoleFiction   Role = "fiction"   // it tells a plot
	RoleSatire    Role = "satire"
	RoleSponsored Role = "sponsored"
	RoleApril     Role = "april_1st" // its page was published on a day of hoaxes
)

// Denial is how a page says that a quote is not so.
type Denial string

// The denials.
const (
	DeniedByHeading  Denial = "heading"  // it stands below "False claims"
	DeniedByList     Denial = "list"     // it is an item below "things that are not true:"
	DeniedByLabel    Denial = "label"    // "Myth:" stands before it
	DeniedByVerdict  Denial = "verdict"  // its row, or the line behind it, has the verdict "False"
	DeniedByAnswer   Denial = "answer"   // "True or false?" is answered with "False"
	DeniedBySentence Denial = "sentence" // a sentence beside it calls it a hoax
)

// Plain reports whether a quote says what its page says in earnest, so that it may speak for it. Most of what is published on
// a day of hoaxes is none.
func (f Framing) Plain() bool { return f.Denied == "" && f.Role != RoleFiction && f.Role != RoleSatire }

// Note words what changes the meaning of a quote, or returns "". The page's own words go through quote, and all of ours through say,
// which is [fmt.Sprintf] or translates the format.
func (f Framing) Note(quote func(string) string, say func(format string, values ...any) string) string {
	var parts []string
	if f.Question != "" {
		parts = append(parts, say("answers %s", quote(f.Question)))
	}
	if f.Under != "" {
		parts = append(parts, say("below the heading %s", quote(f.Under)))
	}
	if f.Header != "" {
		parts = append(parts, say("columns: %s", quote(f.Header)))
	}
	if words := roleWords[f.Role]; words != "" {
		parts = append(parts, say(words))
	}
	if words := denialWords[f.Denied]; words != "" {
		parts = append(parts, say(words, quote(f.Words)))
	}
	return strings.Join(parts, "; ")
}

var roleWords = map[Role]string{
	RoleQuotation: "quoted there, not said in the page's own name", RoleComment: "a user's comment", RoleFiction: "from the plot of a work of fiction",
	RoleSatire: "satire", RoleSponsored: "sponsored content", RoleApril: "dated April 1st",
}

var denialWords = map[Denial]string{
	DeniedByHeading: "denied there: listed under %s", DeniedByList: "denied there: listed under %s", DeniedByLabel: "denied there: labelled %s", DeniedByVerdict: "denied there: the verdict is %s",
	DeniedByAnswer: "denied there: the answer is %s", DeniedBySentence: "denied there: %s",
}
