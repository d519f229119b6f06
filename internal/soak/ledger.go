package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/llm/llmtest"
)

// ledger notes every mention that was written. Each has a tag, "q17", which stands in its text; the model's answer names the
// tags that it answers in its first words and its last.
type ledger struct {
	mu       sync.Mutex
	mentions []mention       // by tag; guarded by mu
	hanging  map[string]bool // channels in which the model says nothing; guarded by mu
}

type mention struct {
	tag, id, channel, author string
	at                       time.Time
	asked, ended             time.Time // the model was asked first, and had written its last answer; zero: not yet
}

// open begins a mention. Its id is known only once it is written.
func (l *ledger) open(channel, author string) (tag string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tag = fmt.Sprintf("q%d", len(l.mentions))
	l.mentions = append(l.mentions, mention{tag: tag, channel: channel, author: author, at: time.Now()})
	return tag
}

func (l *ledger) written(tag, id string) {
	l.note([]string{tag}, func(m *mention) { m.id = id })
}

// note changes mentions.
func (l *ledger) note(tags []string, change func(*mention)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tag := range tags {
		if i, err := strconv.Atoi(strings.TrimPrefix(tag, "q")); err == nil && i < len(l.mentions) {
			change(&l.mentions[i])
		}
	}
}

func (l *ledger) all() []mention {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.mentions)
}

// hang makes the model say nothing in these channels.
func (l *ledger) hang(channels ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hanging = map[string]bool{}
	for _, c := range channels {
		l.hanging[c] = true
	}
}

func (l *ledger) hangs(tags []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.mentions {
		if l.hanging[m.channel] && slices.Contains(tags, m.tag) {
			return true
		}
	}
	return false
}

var (
	tagged = regexp.MustCompile(`\bq\d+\b`)
	// opening is how an answer begins, even one of which little is to be seen yet.
	opening = regexp.MustCompile(`^q\d+(?: q\d+)*\b`)
	// marked are the notes at the end of an answer that is known to be half.
	marked = regexp.MustCompile(`(?m)^-# .*\b(?:interrupted|cut off|stopped)\b`)
)

// reply is the model's answer to a request: twenty words in a second.
func (l *ledger) reply(r llmtest.Request) llmtest.Reply {
	tags := tagsOf(r)
	l.note(tags, func(m *mention) {
		if m.asked.IsZero() {
			m.asked = r.At
		}
	})
	if l.hangs(tags) {
		return llmtest.Reply{llmtest.Hold()}
	}
	return llmtest.Reply{llmtest.Gap(45 * time.Millisecond), llmtest.Say(answerTo(tags))}
}

// ended notes that a reply has been written.
func (l *ledger) ended(r llmtest.Request) {
	now := time.Now()
	l.note(tagsOf(r), func(m *mention) { m.ended = now })
}

func tagsOf(r llmtest.Request) []string { return slices.Compact(tagged.FindAllString(r.Last(), -1)) }

func answerTo(tags []string) string {
	all := strings.Join(tags, " ")
	return all + " is where I read on, and the owl has found its spectacles behind the seventh shelf at last, which " + closing(all)
}

// closing is how a complete answer ends.
func closing(tags string) string { return "is all for " + tags + "." }
