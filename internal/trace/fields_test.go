package trace

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

// noTexts are the fields of a record that are strings and no texts. Those with ids of messages or people must have a provenance, by which
// they are found when these go.
var noTexts = map[string][]string{
	"message": {"Message.ID", "Request.Burst", "Trace.ReplyIDs", "Lookup.Quoted", "Summary.Sources", "Call.Quoted", "Recalled.Sources", "RecallFilter.Out", "Attached.MessageID"},
	"person":  {"Author.ID", "Press.ByID"},
	// Ids that say nothing alone; a redaction takes them out together with the part in which they are.
	"id": {
		"Request.ID", "Request.Character", "Request.GuildID", "Request.ChannelID", "Request.Claim", "Request.EarlierID", "Message.ChannelID", "Message.ReplyTo",
		"Attachment.ID", "Attachment.MessageID", "Summary.ChannelID", "Summary.LastID", "Reuse.Turn", "Press.TurnID", "Transcript.MessageID", "Speech.MessageID",
	},
	// Names of models, services and parts of this program, languages, hashes, codes.
	"code": {
		"Trace.Model", "Trace.ModelHost", "Trace.Finish", "Request.Language", "Persona.Name", "Persona.Avatar", "Outcome.Provider", "Contribution.Role", "LoreEntry.Place",
		"Embedding.Host", "Embedding.Model", "Lookup.Scrubbed", "Lookup.By", "Step.By", "Asked.Backend", "Hit.Backend", "Hit.Also", "Hit.Language", "Page.Via", "Page.SHA256",
		"Claim.Checks", "Claim.Refused", "Conflict.Of", "Stage.Name", "Removal.Rule", "Cap.Of", "Attached.Type", "Attached.SHA256", "Image.Type", "Summary.By", "Recalled.Scope",
		"RecallFilter.Model", "Dropped.Reason", "Rendered.Role", "ModelFailure.Model", "ModelFailure.Kind", "Guarded.Rule", "Citation.Refused", "Opinion.Words", "Opinion.Is",
		"Opinion.Model", "Call.For", "Call.Model", "Processed.By", "Processed.Model", "Press.Kind", "MemoryChange.Deed", "MemoryChange.Field", "MemoryChange.Kind", "MemoryChange.Scope", "Transcript.Host", "Speech.Host", "Speech.Voice", "Mood.Label", "Mood.By", "Mood.Why", "Mood.Picture",
	},
}

// fill gives each string in a value another value, and notes it under the names of its type and field.
func fill(v reflect.Value, name string, depth int, note func(name, value string)) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time](), depth > 12:
	case v.Type() == reflect.TypeFor[string]():
		value := fmt.Sprintf("the value of %s #%d", name, v.Addr().Pointer())
		v.SetString(value)
		note(name, value)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, depth+1, note)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name, depth+1, note)
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), name, depth+1, note)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("json") != "-" { // the others are on no record
				fill(v.Field(i), v.Type().Name()+"."+f.Name, depth+1, note)
			}
		}
	}
}

// filled returns a record in which every string has a value of its own. It also returns these values by the names of their fields.
func filled() (*turn.Trace, map[string][]string) {
	t, values := new(turn.Trace), map[string][]string{}
	fill(reflect.ValueOf(t).Elem(), "", 0, func(name, value string) { values[name] = append(values[name], value) })
	return t, values
}

// TestEveryFieldIsOnTheList compares the list of texts with the type of the record. A new field that is a string is a text, or is listed
// above. An id of a message or a person has a provenance.
func TestEveryFieldIsOnTheList(t *testing.T) {
	tr, values := filled()
	visited, found := map[string]bool{}, map[string]bool{}
	texts(tr, func(text *string) {
		if *text != "" && visited[*text] {
			t.Errorf("%s is visited twice", *text)
		}
		visited[*text] = true
	})
	found[tr.Request.Message.Author.ID] = true // Redaction.Asked goes by it
	for _, from := range provenances(tr) {
		for _, id := range append(from.messages, from.person) {
			found[id] = true
		}
	}
	for name, all := range values {
		class := "text"
		for c, names := range noTexts {
			if slices.Contains(names, name) {
				class = c
			}
		}
		for _, value := range all {
			if visited[value] != (class == "text") {
				t.Errorf("%s is a %s, visited as a text: %t. See texts in fields.go", name, class, visited[value])
			}
			if (class == "message" || class == "person") && !found[value] {
				t.Errorf("%s is the id of a %s, and no provenance has it. See parts in fields.go", name, class)
			}
		}
	}
	for class, names := range noTexts {
		for _, name := range names {
			if len(values[name]) == 0 {
				t.Errorf("there is no field %s, which is listed as %s", name, class)
			}
		}
	}
}

// TestTombstoneHoldsNoText: whatever field a record gets, a tombstone does not have its words.
func TestTombstoneHoldsNoText(t *testing.T) {
	tr, _ := filled()
	left := tombstone(tr, questionDeleted)
	texts(&left, func(text *string) {
		if *text != "" && *text != deleted && *text != questionDeleted && !slices.Contains([]string{tr.Cure, tr.Request.Web.Docs, tr.Request.Web.Site}, *text) && !strings.Contains(*text, "Contribution.Source") {
			t.Errorf("left: %s", *text)
		}
	})
}

// TestEveryPartGoes redacts each message of a record and then a person. Nothing of the part that was made from it is left.
func TestEveryPartGoes(t *testing.T) {
	tr, _ := filled()
	for i := range parts(tr) {
		tr, _ := filled()
		p := parts(tr)[i]
		if len(p.from.messages) == 0 {
			continue
		}
		words := p.words
		r := &Redaction{Messages: map[string]bool{p.from.messages[0]: true}}
		if !r.Apply(tr) {
			t.Errorf("part %d: nothing changed", i)
		}
		whole, err := json.Marshal(tr)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if w != "" && strings.Contains(string(whole), w) {
				t.Errorf("part %d: %q is left", i, w)
			}
		}
		if r.Apply(tr) {
			t.Errorf("part %d: it changed again", i)
		}
	}
}

// TestCallsGo checks that what models were shown and answered goes with any message that is in the record. It goes with anybody in it, too.
// What they cost stays.
func TestCallsGo(t *testing.T) {
	for what, r := range map[string]*Redaction{
		"a message that only a call has": {Messages: map[string]bool{"m7": true}},
		"a message of the history":       {Messages: map[string]bool{"m8": true}},
		"what is remembered of a person": {Person: &Person{ID: "p1", Memories: map[int64]bool{7: true}}},
	} {
		tr := record("T", noon, "a page")
		tr.Calls = []turn.Call{{For: "chatter", Model: "side", Prompt: []turn.Rendered{{Text: "Bo: I a m ill"}}, Answer: "ill?", Quoted: []string{"m7"}, Usage: turn.Usage{Prompt: 9}}}
		tr.Outcomes = append(tr.Outcomes, turn.Outcome{Contributions: []turn.Contribution{{Message: &turn.Message{ID: "m8", Text: "I am ill"}}, {Filter: &turn.RecallFilter{Out: []string{"statement 7"}}}}})
		if !r.Apply(tr) || tr.Calls[0].Prompt != nil || tr.Calls[0].Answer != "" || tr.Spent().Prompt != 9 {
			t.Errorf("%s: %+v", what, tr.Calls)
		}
	}
}
