package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/llm/llmtest"
)

// ledger notes every mention that was written. Each has a tag, "q17", which stands in its text; the model's answer names the
// tags that it answers in its first words and its last.
type ledger struct {
	mu       sync.Mutex
	mentions []mention       // by tag; guarded by mu
	hanging  map[string]bool // channels in which the model says nothing; guarded by mu
	gap      time.Duration   // between two words of the model; 0: 45 ms
	answers  atomic.Int64    // that the model was asked for

	// fault returns what the model says in place of the answer, or nil; nil: never anything. Guarded by mu.
	fault func(answer string) llmtest.Reply
}

type mention struct {
	tag, id, channel, author string
	at                       time.Time
	asked, ended             time.Time // the model was asked first, and had written its last answer; zero: not yet
	joint                    bool      // it may be one question with another mention
	withdrawn                bool      // a person has deleted it, or its answer
	again                    int       // how often a person wanted another answer
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

// reply is the model's answer to a request.
func (l *ledger) reply(r llmtest.Request) llmtest.Reply {
	tags := tagsOf(r)
	if r.Model == mainModel { // a summary of mentions is none of their turns'
		l.note(tags, func(m *mention) {
			if m.asked.IsZero() {
				m.asked = r.At
			}
		})
	}
	if l.hangs(tags) {
		return llmtest.Reply{llmtest.Hold()}
	}
	answer := answerTo(tags, l.answers.Add(1))
	if wrong := l.wrong(answer); wrong != nil {
		return wrong
	}
	return llmtest.Reply{llmtest.Gap(cmp.Or(l.gap, 45*time.Millisecond)), llmtest.Say(answer)}
}

// ended notes that a reply has been written.
func (l *ledger) ended(r llmtest.Request) {
	if now := time.Now(); r.Model == mainModel {
		l.note(tagsOf(r), func(m *mention) { m.ended = now })
	}
}

// tagsOf are the tags of the mentions that a request is about. What is quoted there has none behind these words.
func tagsOf(r llmtest.Request) (tags []string) {
	for _, found := range asking.FindAllStringSubmatch(r.Last(), -1) {
		tags = append(tags, found[1])
	}
	return slices.Compact(tags)
}

// question is what a mention says.
func question(tag string) string { return "how are you? I am at page " + tag }

var asking = regexp.MustCompile(`\bI am at page (q\d+)\b`)

func (l *ledger) wrong(answer string) llmtest.Reply {
	l.mu.Lock()
	fault := l.fault
	l.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(answer)
}

// fail has fault say what goes wrong with the answers from now on; nil: nothing.
func (l *ledger) fail(fault func(answer string) llmtest.Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = fault
}

// answerTo is the answer to mentions. With a number of its own it is like no other: what is deleted of one leaves the others alone.
func answerTo(tags []string, number int64) string {
	all := strings.Join(tags, " ")
	return fmt.Sprintf("%s is where I read on, and the owl has found its spectacles behind shelf %d at last, which %s", all, number, closing(all))
}

// closing is how a complete answer ends.
func closing(tags string) string { return "is all for " + tags + "." }
