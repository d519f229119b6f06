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

	"familiar/internal/test/llmtest"
)

// ledger records every mention that was written. Each mention contains a tag such as "q17". The model's answer names the tags that it
// answers in its first and last words.
type ledger struct {
	mu       sync.Mutex
	mentions []mention       // by tag; guarded by mu
	hanging  map[string]bool // channels in which the model sends nothing; guarded by mu
	gap      time.Duration   // between two words of the model; 0: 45 ms
	answers  atomic.Int64    // requests for an answer so far

	// fault returns what the model does instead of answering, or nil for an ordinary answer. A nil fault means that every answer is
	// ordinary. Guarded by mu.
	fault func(answer string) llmtest.Reply
}

type mention struct {
	tag, id, channel, author string
	at                       time.Time
	asked, ended             time.Time // first request to the model, and end of its last answer; zero: not yet
	joint                    bool      // may be one question together with another mention
	withdrawn                bool      // a person has deleted it or its answer
	again                    int       // how often a person asked for another answer
}

// open begins a mention. Its id is known once it is written.
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

// note changes the notes about mentions.
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

// hang makes the model send nothing in these channels.
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
	// opening matches the beginning of an answer, even of one that has hardly begun.
	opening = regexp.MustCompile(`^q\d+(?: q\d+)*\b`)
	// marked matches the notes at the end of an answer that the bot knows to be incomplete.
	marked = regexp.MustCompile(`(?m)^-# .*\b(?:interrupted|cut off|stopped)\b`)
)

// last has each answer of the model take a while. It is called before the first request.
func (l *ledger) last(answer time.Duration) {
	l.gap = answer / time.Duration(len(strings.Fields(answerTo([]string{"q0"}, 0))))
}

// reply returns the model's answer to a request.
func (l *ledger) reply(r llmtest.Request) llmtest.Reply {
	tags := tagsOf(r)
	if r.Model == mainModel { // a summary belongs to no mention's turn
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

// tagsOf returns the tags of the mentions that a request is about. Quoted mentions are left out: no tag follows their words.
func tagsOf(r llmtest.Request) (tags []string) {
	for _, found := range asking.FindAllStringSubmatch(r.Last(), -1) {
		tags = append(tags, found[1])
	}
	return slices.Compact(tags)
}

// question returns the text of a mention.
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

// fail sets the function that chooses faults of the answers. nil means no faults.
func (l *ledger) fail(fault func(answer string) llmtest.Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = fault
}

// answerTo returns the answer to mentions. The number makes each answer unique, so that deleting a sentence of one does not match another.
func answerTo(tags []string, number int64) string {
	all := strings.Join(tags, " ")
	return fmt.Sprintf("%s is where I read on, and the owl has found its spectacles behind shelf %d at last, which %s", all, number, closing(all))
}

// closing returns the end of a complete answer.
func closing(tags string) string { return "is all for " + tags + "." }
