package doctor

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"familiar/internal/llm"
	"familiar/internal/text"
)

// Model is what a model answered.
type Model struct {
	Role  string // "model" or "side model": the id of the findings
	Name  string
	Where string        // the server, without secrets
	How   string        // in brackets: how it was chosen where nobody named it
	Slow  time.Duration // a first word after this is late

	Stream  Stream
	Window  llm.Window
	Mode    string // the mode of most channels
	Prompt  int    // tokens that a prompt in that mode may have
	Picture *Sight
	JSON    *Reply
}

// Stream is an answer in pieces.
type Stream struct {
	First, Took time.Duration // until the first word, until the last
	Pieces      int
	Err         error
	Why, Cure   string // of Err, where it is explained
}

// Reply is what came of a question.
type Reply struct {
	OK  bool // the answer is what was asked for
	Err error
}

// Sight is what came of a picture.
type Sight struct {
	Off   bool // the operator has it shown none
	Blind bool // it takes none
	Err   error
}

// NoModel is the finding where there is none.
func NoModel() []Finding {
	return []Finding{{ID: "model", State: Warning, Text: "None is configured: answers are made from lookups alone, in the pages' own words.",
		Cure: "set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, or start Ollama on this machine"}}
}

// Judge says how a model does. Where it does not answer, nothing else is said of it.
func (m Model) Judge() []Finding {
	f := Finding{ID: m.Role, Subject: m.Name, State: OK}
	s := m.Stream
	if s.Err != nil {
		f.State = Failure
		f.Text, f.Cure = m.explain()
		return []Finding{f}
	}
	f.Text = fmt.Sprintf("It answers at %s%s: first word after %s, whole after %s.", m.Where, m.How, ms(s.First), ms(s.Took))
	switch {
	case s.First > m.Slow:
		f.State, f.Text = Warning, f.Text+fmt.Sprintf(" That is slower than FAMILIAR_FIRST_WORD allows (%v).", m.Slow)
		f.Cure = "take a faster model or server, or raise FAMILIAR_FIRST_WORD; the first answer after a start is often slow, so run the doctor once more"
	}
	all := []Finding{f}
	if m.Prompt > 0 {
		all = append(all, m.judgeWindow())
	}
	if m.Picture != nil {
		all = append(all, m.judgePicture())
	}
	if m.JSON != nil {
		all = append(all, m.judgeJSON())
	}
	return all
}

// answerRoom is how many tokens an answer should have beside the prompt.
const answerRoom = 1000

func (m Model) judgeWindow() Finding {
	f := Finding{ID: m.Role + " context", Subject: m.Name, State: OK}
	need, w := m.Prompt+answerRoom, m.Window
	switch {
	case w.Tokens == 0 && w.Most == 0:
		f.State, f.Text = Skipped, fmt.Sprintf("The server does not say how large it is. Prompts in the mode %s have %s tokens at most.", m.Mode, text.Thousands(m.Prompt))
	case w.Tokens == 0:
		f.State, f.Text = Skipped, fmt.Sprintf("It could be %s tokens; how many are in force is known once the model is loaded. Prompts in the mode %s have %s at most.",
			text.Thousands(w.Most), m.Mode, text.Thousands(m.Prompt))
	case w.Tokens >= need:
		f.Text = fmt.Sprintf("%s tokens, by %s. Prompts in the mode %s have %s at most.", text.Thousands(w.Tokens), w.Source, m.Mode, text.Thousands(m.Prompt))
	default:
		f.State = Warning
		f.Text = fmt.Sprintf("%s tokens, by %s, where the mode %s wants up to %s and an answer %s: long prompts are cut by the server, or refused.",
			text.Thousands(w.Tokens), w.Source, m.Mode, text.Thousands(m.Prompt), text.Thousands(answerRoom))
		f.Cure = m.enlarge(need)
	}
	return f
}

// enlarge says how to have a larger context at the server that was asked.
func (m Model) enlarge(need int) string {
	smaller := fmt.Sprintf("or a smaller total in [modes.%s] of the character", m.Mode)
	switch m.Window.Source {
	case "/api/ps", "/api/show":
		return fmt.Sprintf("start Ollama with OLLAMA_CONTEXT_LENGTH=%d, %s", need, smaller)
	case "/props":
		return fmt.Sprintf("start llama-server with -c %d, %s", need, smaller)
	case "/api/v0/models":
		return fmt.Sprintf("load the model in LM Studio with a context of %d, %s", need, smaller)
	}
	return "take a model with a larger context, " + smaller
}

func (m Model) judgePicture() Finding {
	f := Finding{ID: m.Role + " pictures", Subject: m.Name, State: OK, Text: "It takes pictures."}
	switch p := m.Picture; {
	case p.Off:
		f.State, f.Text = Skipped, "It is shown none: OPENAI_VISION is off."
	case p.Err != nil:
		f.State, f.Text = Warning, "It did not answer to one: "+brief(p.Err)+"."
		f.Cure = "set OPENAI_VISION=off, or take a model that sees"
	case p.Blind:
		f.Text = "It takes none: it is told what hangs on a message, and does not see it."
	}
	return f
}

func (m Model) judgeJSON() Finding {
	f := Finding{ID: m.Role + " JSON", Subject: m.Name, State: OK, Text: "It answers in JSON when it is asked to."}
	const without = "; without it pages are read by rules alone, and nothing is learned"
	switch {
	case m.JSON.Err != nil:
		f.State, f.Text = Warning, "It did not answer to a question for JSON: "+brief(m.JSON.Err)+"."
	case !m.JSON.OK:
		f.State, f.Text = Warning, "It was asked for a JSON object and gave something else."
	default:
		return f
	}
	f.Cure = "set SIDE_MODEL to a model that gives JSON" + without
	return f
}

// explain says why a model did not answer, and what to do.
func (m Model) explain() (why, cure string) {
	s := m.Stream
	var e *llm.Error
	switch {
	case s.Why != "":
		return "It does not answer: " + s.Why + ".", s.Cure
	case errors.As(s.Err, &e):
		return fmt.Sprintf("It does not answer at %s: %s.", m.Where, brief(s.Err)), "look at the server's log, or take another model"
	}
	return fmt.Sprintf("No answer came from %s in time.", m.Where), "see whether the server is up and not busy; a machine of your own may need longer to load its model: run the doctor once more"
}

// brief is a model's failure in a few words, with what the server said, if it said something.
func brief(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return "it took too long"
	}
	words := strings.ReplaceAll(string(e.Kind), "_", " ")
	if e.Status != 0 {
		words += fmt.Sprintf(", status %d", e.Status)
	}
	cause := e.Cause
	if _, inner, ok := strings.Cut(cause, ": reach "); ok {
		cause = inner // without the request around it
	}
	if cause != "" {
		words += " (" + strings.TrimRight(cause, ".") + ")"
	}
	return words
}

func ms(d time.Duration) string { return fmt.Sprintf("%s ms", text.Thousands(int(d.Milliseconds()))) }
