package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// withoutModel is what a newcomer may say who has no model.
const withoutModel = `hi
who are you?
what can you do?
how are you?
help
what time is it?
what is 17% of 240?
(12 + 3) × 4?
5 miles in km
20 °C in °F
how high is Mount Example?
thanks!
my kitten is called Miso
remember that my kitten is called Miso
what is my kitten called?
what do you remember about me?
what do you know about me?
forget that my kitten is called Miso
what is my kitten called?
what did we talk about before?
remind me to water the plants in 10 minutes
tell me a joke
write me a poem about the sea
I feel sad today
I love you
are you a bot?
who made you?
what is your name?
how old are you?
good morning
was kannst du?
wie spät ist es?
merci
qui es-tu ?
cómo estás?
ok
how do I bring you to my server?
asdfgh
?
good night
`

// TestConversationWithoutAModel holds forty lines with their answers, which a person should enjoy reading, in testdata/golden/nomodel.txtar.
func TestConversationWithoutAModel(t *testing.T) {
	t.Parallel()
	const path = "testdata/golden/nomodel.txtar"
	archive := &txtar.Archive{}
	if data, err := os.ReadFile(path); err == nil {
		archive = txtar.Parse(data)
	} else if !*update {
		t.Fatal(err)
	}
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	c.env["USER"] = "ana"
	code, out, complaint := c.command(strings.NewReader(withoutModel), "chat")
	if code != exitOK || strings.Contains(complaint, " ERR ") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
	answers := strings.Split(strings.TrimPrefix(out, "sage> "), "\nsage> ")
	lines := strings.Split(strings.TrimSpace(withoutModel), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines:\n%s", len(answers), len(lines), out)
	}
	if n := strings.Count(out, "OPENAI_API_KEY"); n != 1 {
		t.Errorf("the way to a model is told %d times", n)
	}
	var both strings.Builder
	for i, line := range lines {
		both.WriteString("ana> " + line + "\nsage> " + strings.TrimRight(answers[i], "\n") + "\n")
	}
	golden(t, path, archive, "conversation", regexp.MustCompile(`\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4}|\d{1,2}:\d\d(:\d\d)?( UTC)?`).ReplaceAllString(both.String(), "…"))
}
