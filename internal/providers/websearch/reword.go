package websearch

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
)

// rewordTime is how long a side model may take to make a follow-up stand alone.
const rewordTime = 1500 * time.Millisecond

const rewordOrder = `You are given what people wrote before, oldest first, and a new message that leans on it. Write the new message as one question that can be understood by itself: put the names in the places of pronouns, add what is left out, change nothing else. Use only words that stand in the messages. Keep the language.
Return one JSON object and nothing else: {"question":"…"}`

// reword lets the side model make a follow-up stand alone, where the rules saw that it leans on what was said before. Its
// words are taken only if every one of them stands in what people wrote and nothing private was taken from there (P1,
// P10); a late or broken answer leaves what the rules made.
func (p *Provider) reword(ctx context.Context, pl *plan, req turn.Request, names []string) {
	defer func() { _ = recover() }() // a client that panics has no better words
	ctx, cancel := context.WithTimeout(ctx, rewordTime)
	defer cancel()
	earlier := said(req)
	nonce := newNonce()
	var text strings.Builder
	for i := len(earlier) - 1; i >= 0; i-- {
		text.WriteString("<before-" + nonce + ">\n" + inertLine(cut(oneLine(earlier[i].Text), maxQuestion), nonce) + "\n</before-" + nonce + ">\n")
	}
	message := withoutURLs(req.Message.Text)
	text.WriteString("<message-" + nonce + ">\n" + inertLine(cut(oneLine(message), maxQuestion), nonce) + "\n</message-" + nonce + ">")
	answer, err := p.Side.Complete(ctx, llm.Request{JSON: true, MaxTokens: 300, Messages: []llm.Message{
		{Role: "system", Content: rewordOrder}, {Role: "user", Content: text.String()},
	}})
	pl.usage = addUsage(pl.usage, usage(answer.Usage))
	var got struct {
		Question string `json:"question"`
	}
	if err != nil || !strictly(answer.Text, &got) {
		return
	}
	question := oneLine(got.Question)
	if !pl.mayAsk(question, append(earlier, turn.Message{Text: message})) {
		pl.step("side model", "refused: words that nobody wrote")
		return
	}
	pl.core, pl.question = question, cut(question, maxQuestion)
	n := weigh(question, names)
	pl.topics, pl.times, pl.check = n.topics, n.times, n.check
	pl.step("side model", question+" (by "+answer.Model+")")
}

// mayAsk reports whether a question holds nothing but the words of the messages, as they are without what is private,
// and words that carry no meaning.
func (p *plan) mayAsk(question string, from []turn.Message) bool {
	if question == "" || utf8.RuneCountInString(question) > maxQuestion || unspaced(question) {
		return false // without spaces there are no words to tell whose they are
	}
	theirs := map[string]bool{}
	for _, m := range from {
		text, _ := scrub(withoutURLs(m.Text), p.known)
		for _, w := range split(text) {
			theirs[w.key] = true
		}
	}
	content := 0
	for _, w := range split(question) {
		switch {
		case theirs[w.key]:
			content++
		case !stopWords[w.key]:
			return false
		}
	}
	return content > 0
}

// strictly reads an answer that must be one JSON object, of known fields and with nothing around it.
func strictly(text string, into any) bool {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil && strings.TrimSpace(text[d.InputOffset():]) == ""
}
