package writer

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/memory/attest"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Limits of what is taken of an answer.
const (
	mostHappened = 5
	mostOnTopics = 8
	mostAbout    = 8
	longestTopic = 60 // characters
)

// Why a proposal is refused, beside the checks of package attest.
const (
	tooMany  = "too many"
	noTopic  = "topic"    // its name is none, or says what the message does not
	noAgree  = "consent"  // it is about somebody who has not agreed
	replaces = "replaces" // what it was to replace is something else: it is kept beside that
)

// check takes of an answer what messages bear out.
func (s *session) check(a answer, redact func(string) string) {
	for _, part := range []struct {
		kind store.MemoryKind
		all  []proposal
		most int
	}{{store.MemorySession, a.Session, mostHappened}, {store.MemoryTopic, a.Topics, mostOnTopics}, {store.MemoryPerson, a.People, mostAbout}} {
		for i, p := range part.all {
			s.proposed++
			if i >= part.most {
				s.counts["memory refused: "+tooMany] += len(part.all) - i
				s.proposed += len(part.all) - i - 1
				break
			}
			p.Text, p.Topic = redact(clean.Line(p.Text, 1000)), redact(clean.Line(p.Topic, longestTopic))
			if refused := s.take(part.kind, p); refused != "" {
				s.counts["memory refused: "+refused]++
			}
		}
	}
}

// take makes a lesson of a proposal, or says why not.
func (s *session) take(kind store.MemoryKind, p proposal) (refused string) {
	if p.From < 1 || p.From > len(s.shown) {
		return attest.NoSource
	}
	of := s.shown[p.From-1]
	m := store.Memory{Kind: kind, Scope: s.scope, Text: p.Text, Sources: []string{of.ID}, SaidAt: of.At, LearnedAt: time.Now()}
	switch kind {
	case store.MemoryPerson:
		if m.Subject = of.AuthorID; !s.agreed[of.AuthorID] {
			return noAgree
		}
		refused = attest.CheckPerson(p.Text, of, s.others(of.AuthorID))
	case store.MemoryTopic:
		if m.Subject = s.topic(p); m.Subject == "" || !covers(of.Text+"\n"+p.Text, m.Subject) {
			return noTopic
		}
		_, refused = attest.Check(p.Text, attest.All, []store.Message{of})
	default:
		_, refused = attest.Check(p.Text, attest.All, []store.Message{of})
	}
	if refused != "" {
		return refused
	}
	if p.Replaces != 0 {
		m.Supersedes = s.replaced(m, p.Replaces)
	}
	s.lessons = append(s.lessons, store.Lesson{Memory: m, Of: s.stored[of.ID]})
	return ""
}

// others are the names of those who wrote, but of one of them.
func (s *session) others(personID string) (names []string) {
	for _, m := range s.shown {
		if m.AuthorID != personID {
			names = text.AddOnce(names, attest.Name(m))
		}
	}
	return names
}

// topic is the name of a topic, as it is remembered already if it is; empty if it is no name.
func (s *session) topic(p proposal) string {
	odd := func(r rune) bool { return !text.InWord(r) && !strings.ContainsRune(" -'’&+#", r) }
	if len(text.Words(p.Topic)) == 0 || strings.ContainsFunc(p.Topic, odd) || clean.Orders(p.Topic) {
		return ""
	}
	for _, m := range s.known {
		if m.Kind == store.MemoryTopic && strings.EqualFold(m.Subject, p.Topic) {
			return m.Subject
		}
	}
	return p.Topic
}

// covers reports whether a text has every word of a name that says something.
func covers(s, name string) bool {
	have := text.Unique(text.Terms(s, ""))
	return !slices.ContainsFunc(text.Terms(name, ""), func(t string) bool { return !slices.Contains(have, t) })
}

// replaced returns the statement that m takes the place of: one that was shown, older, on the same person or topic, and on the same matter as far as
// words tell. Otherwise m stands beside it.
func (s *session) replaced(m store.Memory, number int) int64 {
	if number >= 1 && number <= len(s.known) {
		old := s.known[number-1]
		if old.Kind == m.Kind && old.Subject == m.Subject && old.SaidAt.Before(m.SaidAt) && s.sameMatter(old.Text, m.Text) {
			return old.ID
		}
	}
	s.counts["memory refused: "+replaces]++
	return 0
}

// sameMatter reports whether two statements share a word that is nobody's name.
func (s *session) sameMatter(a, b string) bool {
	var names []string
	for _, m := range s.shown {
		names = append(names, text.Terms(attest.Name(m), "")...)
	}
	said := func(statement string) []string {
		return slices.DeleteFunc(text.Unique(text.Terms(statement, "")), func(t string) bool { return slices.Contains(names, t) })
	}
	return text.Common(said(a), said(b)) > 0
}
