package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/text"
)

// mainModel asks the main model and its fallbacks.
func (e *Examination) mainModel(ctx context.Context) []Finding {
	m, err := e.chooseModels(ctx)
	switch {
	case err != nil:
		text, cure, _ := strings.Cut(err.Error(), "\n")
		e.silent = true
		return []Finding{{ID: "model", State: Failure, Text: text, Cure: strings.TrimSpace(cure)}}
	case m.Main == nil:
		return noModel()
	}
	slow := e.span("FAMILIAR_FIRST_WORD")
	look := modelTest{Role: "model", Where: m.Where, How: m.How, Slow: slow, Mode: e.Mode, Prompt: e.Prompt}
	fallbacks := m.Main.Fallbacks
	if e.Brief {
		fallbacks = nil
	} else {
		look.Picture, look.JSON = &pictureTest{Off: e.Setting("OPENAI_VISION") == "off"}, &jsonTest{}
	}
	found := ask(ctx, alone(m.Main, m.Main.Model), m.MainNames, look)
	e.silent = !works(found)
	for _, name := range fallbacks {
		found = append(found, ask(ctx, alone(m.Main, name), m.MainNames, modelTest{Role: "fallback", Where: m.Where, Slow: slow})...)
	}
	return found
}

// chooseModels finds the models, once for all checks.
func (e *Examination) chooseModels(ctx context.Context) (Models, error) {
	e.choosing.Do(func() {
		if e.models, e.noModels = e.Models(ctx); e.noModels != nil || e.models.Main == nil {
			return
		}
		for _, c := range []*llm.Client{e.models.Main, e.models.Side} {
			e.clock.readFrom(c.HTTP, "the model's server")
		}
	})
	return e.models, e.noModels
}

// sideModel asks the side model if it is not the main one.
func (e *Examination) sideModel(ctx context.Context) []Finding {
	m, err := e.chooseModels(ctx)
	if err != nil || m.Main == nil || m.Side.Model == m.Main.Model && m.Side.BaseURL == m.Main.BaseURL {
		return nil
	}
	look := modelTest{Role: "side model", Where: m.SideWhere, Slow: e.span("FAMILIAR_FIRST_WORD"), JSON: &jsonTest{}}
	return ask(ctx, alone(m.Side, m.Side.Model), m.SideNames, look)
}

// alone returns a client of one model without fallbacks.
func alone(c *llm.Client, name string) *llm.Client {
	return &llm.Client{HTTP: c.HTTP, BaseURL: c.BaseURL, Key: c.Key, Model: name, Redact: c.Redact, FirstToken: time.Minute}
}

// ask asks a model the questions of a test, one after the other. A small machine runs one at a time.
func ask(ctx context.Context, c *llm.Client, names Names, look modelTest) []Finding {
	look.Name = c.Model
	look.Stream = stream(ctx, c)
	if err := look.Stream.Err; err != nil {
		if f := Diagnose(ctx, c, names, err); f != nil {
			look.Stream.Why, look.Stream.Cure, look.Stream.Set = f.Text, f.Cure, f.Set
		}
		return look.judge()
	}
	if look.Prompt > 0 {
		look.Window = c.Window(ctx)
	}
	if look.JSON != nil {
		look.JSON.OK, look.JSON.Err = givesJSON(ctx, c)
	}
	if look.Picture != nil && !look.Picture.Off {
		answer, err := c.Complete(ctx, llm.Request{Messages: []turn.Rendered{{Role: "user", Text: "Which colour has this picture? Answer with one English word.",
			Images: []turn.Image{{Label: "a square", Type: "image/png", Data: square()}}}}})
		look.Picture.Blind, look.Picture.Answer, look.Picture.Err = answer.Blind, answer.Text, err
	}
	return look.judge()
}

// stream asks a model for ten words, which come one after the other if it streams.
func stream(ctx context.Context, c *llm.Client) (s streamTest) {
	began := time.Now()
	_, s.Err = c.Stream(ctx, llm.Request{Messages: []turn.Rendered{{Role: "user", Text: "This is a test. Count from one to ten in English words, and write nothing else."}}}, func(string) {
		if s.Pieces++; s.Pieces == 1 {
			s.First = time.Since(began)
		}
	})
	s.Took = time.Since(began)
	return s
}

// givesJSON asks a model for an object, and reports whether it gave one.
func givesJSON(ctx context.Context, c *llm.Client) (bool, error) {
	var got map[string]any
	_, err := c.Ask(ctx, llm.Question{Order: "This is a test.", Text: `Answer with this JSON object and nothing else: {"ready": true}`}, &got)
	if errors.Is(err, llm.ErrNoObject) {
		return false, nil
	}
	return err == nil, err
}

func square() []byte {
	m := image.NewRGBA(image.Rect(0, 0, 32, 32))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.RGBA{200, 0, 0, 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(fmt.Sprintf("write a picture: %v", err)) // to memory
	}
	return b.Bytes()
}

// modelTest is what a model answered to the questions.
type modelTest struct {
	Role  string // "model" or "side model": the id of the findings
	Name  string
	Where string        // the server, without secrets
	How   string        // in brackets: how it was chosen where nobody named it
	Slow  time.Duration // a first word after this is late

	Stream  streamTest
	Window  llm.Window
	Mode    string // the mode of most channels
	Prompt  int    // tokens that a prompt in that mode may have
	Picture *pictureTest
	JSON    *jsonTest
}

// streamTest is an answer in pieces.
type streamTest struct {
	First, Took time.Duration // until the first word, until the last
	Pieces      int
	Err         error
	Why, Cure   string // of Err, where it is explained
	Set         *Assignment
}

// jsonTest is the answer to a question for JSON.
type jsonTest struct {
	OK  bool // the answer is what was asked for
	Err error
}

// pictureTest is the answer to a question about a picture.
type pictureTest struct {
	Off    bool   // the operator has it shown none
	Blind  bool   // it takes none
	Answer string // which colour it sees
	Err    error
}

// noModel is the finding if no model is configured.
func noModel() []Finding {
	return []Finding{{ID: "model", State: Warning, Text: "None is configured: answers come only from lookups, in the pages' own words.",
		Cure: "set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, or start a server on this machine: " + llm.LocalServers}}
}

// judge says how well a model does. If it does not answer, there is one finding.
func (m modelTest) judge() []Finding {
	f := Finding{ID: m.Role, Subject: m.Name, State: OK}
	s := m.Stream
	if s.Err != nil {
		f.State = Failure
		f.Text, f.Cure = m.explain()
		f.Set = s.Set
		return []Finding{f}
	}
	f.Text = fmt.Sprintf("It answers at %s%s: first word after %s, complete after %s.", m.Where, m.How, ms(s.First), ms(s.Took))
	whole := s.First + time.Duration(answerWords/countedWords)*(s.Took-s.First)
	switch {
	case s.First > m.Slow:
		f.State, f.Text = Warning, f.Text+fmt.Sprintf(" That is slower than FAMILIAR_FIRST_WORD allows (%v).", m.Slow)
		f.Cure = "take a faster model or server, or raise FAMILIAR_FIRST_WORD; the first answer after a start is often slow, so run the doctor once more"
	case s.First > patience:
		f.State, f.Text = Warning, f.Text+fmt.Sprintf(" People would wait more than %v for each first word.", patience)
		f.Cure = "take a faster model or server; the first answer after a start is often slow, so run the doctor once more"
	case s.Pieces < countedWords/2:
		f.State, f.Text = Warning, f.Text+fmt.Sprintf(" It sent %s in %s, so people see an answer only when it is complete.", number(countedWords, "word"), number(s.Pieces, "piece"))
		f.Cure = "switch streaming on at the server, or at the proxy before it"
	case whole > longestAnswer:
		f.State, f.Text = Warning, f.Text+fmt.Sprintf(" At that speed an answer of %d words takes %s.", answerWords, whole.Round(time.Second))
		f.Cure = "take a smaller model, or a faster server"
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

const (
	countedWords  = 10               // that a model is asked for
	answerWords   = 200              // of a usual answer
	patience      = 5 * time.Second  // of people, for a first word
	longestAnswer = 60 * time.Second // that people wait for a usual answer
)

// answerRoom is how many tokens an answer should have beside the prompt.
const answerRoom = 1000

func (m modelTest) judgeWindow() Finding {
	f := Finding{ID: m.Role + " context", Subject: m.Name, State: OK}
	need, w := m.Prompt+answerRoom, m.Window
	switch {
	case w.Tokens == 0 && w.Most == 0:
		f.State, f.Text = Skipped, fmt.Sprintf("The server does not report its size. Prompts in the mode %s have %s tokens at most.", m.Mode, text.Thousands(m.Prompt))
	case w.Tokens == 0:
		f.State, f.Text = Skipped, fmt.Sprintf("The maximum is %s tokens. The actual size is known once the model is loaded. Prompts in the mode %s have %s at most.",
			text.Thousands(w.Most), m.Mode, text.Thousands(m.Prompt))
	case w.Tokens >= need:
		f.Text = fmt.Sprintf("%s tokens, according to %s. Prompts in the mode %s have %s at most.", text.Thousands(w.Tokens), w.Source, m.Mode, text.Thousands(m.Prompt))
	default:
		f.State = Warning
		f.Text = fmt.Sprintf("%s tokens, according to %s. The mode %s needs up to %s and an answer %s, so the server cuts or refuses long prompts.",
			text.Thousands(w.Tokens), w.Source, m.Mode, text.Thousands(m.Prompt), text.Thousands(answerRoom))
		f.Cure = m.enlarge(need)
	}
	return f
}

// enlarge says how to have a larger context at the server that was asked.
func (m modelTest) enlarge(need int) string {
	smaller := fmt.Sprintf("or a smaller total in [modes.%s] of the character", m.Mode)
	switch m.Window.Source {
	case "/api/ps", "/api/show":
		return fmt.Sprintf("start Ollama with OLLAMA_CONTEXT_LENGTH=%d, %s", need, smaller)
	case "/props":
		return fmt.Sprintf("start llama-server with -c %d, %s", need, smaller)
	case "/api/v0/models":
		return fmt.Sprintf("load the model in LM Studio with a context of %d, %s", need, smaller)
	}
	return "use a model with a larger context, " + smaller
}

func (m modelTest) judgePicture() Finding {
	f := Finding{ID: m.Role + " pictures", Subject: m.Name, State: OK}
	switch p := m.Picture; {
	case p.Off:
		f.State, f.Text = Skipped, "It is shown none: OPENAI_VISION is off."
	case p.Err != nil:
		f.State, f.Text = Warning, "It did not answer to one: "+brief(p.Err)+"."
		f.Cure = "set OPENAI_VISION=off, or take a model that sees"
	case p.Blind:
		f.Text = "It takes none: it is told what hangs on a message, and does not see it."
	case !strings.Contains(strings.ToLower(p.Answer), "red"):
		f.State, f.Text = Warning, fmt.Sprintf("It accepts pictures and does not see them: asked for the colour of a red one, it said %q.", text.Truncate(p.Answer, 40))
		f.Cure, f.Set = "set OPENAI_VISION=off, or take a model that sees", &Assignment{"OPENAI_VISION", "off"}
	default:
		f.Text = "It sees pictures: it named the colour of one."
	}
	return f
}

func (m modelTest) judgeJSON() Finding {
	f := Finding{ID: m.Role + " JSON", Subject: m.Name, State: OK, Text: "It answers in JSON when asked to."}
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
func (m modelTest) explain() (why, cure string) {
	s := m.Stream
	var e *llm.Error
	switch {
	case s.Why != "":
		return "It does not answer: " + s.Why + ".", s.Cure
	case errors.As(s.Err, &e):
		return fmt.Sprintf("It does not answer at %s: %s.", m.Where, brief(s.Err)), "check the server's log, or use another model"
	}
	return fmt.Sprintf("%s did not answer in time.", m.Where), "check whether the server is running and not busy; a local server may still be loading its model: run the doctor again"
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
