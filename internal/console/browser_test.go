package console

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	capture "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"familiar/internal/context/turn"
)

// The pages in a real browser. Without a browser these tests are skipped, unless FAMILIAR_TEST_BROWSER says that there
// must be one. To make the pictures in doc/console:
//
//	go test ./internal/console -run TestScreenshots -screenshots ../../doc/console

var screenshots = flag.String("screenshots", "", "folder for pictures of the pages; .png at its end makes them PNG")

const (
	browserPatience = 15 * time.Second
	// axePath is where .ci/nightly puts axe-core, which checks the accessibility of pages.
	axePath = "../../.ci/browser/node_modules/axe-core/axe.min.js"
)

// needed reports whether tests must not be skipped.
func needed() bool { return os.Getenv("FAMILIAR_TEST_BROWSER") == "needed" }

func skip(tb testing.TB, why string) {
	tb.Helper()
	if needed() {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

// browser is a Chromium and the console that it shows.
type browser struct {
	ctx context.Context
	w   *world
	at  string // written by the test alone, under mu

	mu     sync.Mutex
	faults []string // errors of pages, and what they loaded from elsewhere; guarded by mu
	warned int      // how often a page asked whether to leave it; guarded by mu
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		skip(t, "chromium is not installed: apt-get install chromium")
	}
	w := newWorld(t, nil).fill(t)
	b := &browser{w: w, at: serve(t, w).url}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1280, 800))
	allocated, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	quiet := func(string, ...any) {}
	ctx, closed := chromedp.NewContext(allocated, chromedp.WithErrorf(quiet), chromedp.WithLogf(quiet))
	t.Cleanup(closed)
	ctx, late := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(late)
	b.ctx = ctx
	if err := chromedp.Run(ctx); err != nil {
		skip(t, fmt.Sprint("chromium does not start: ", err))
	}
	chromedp.ListenTarget(ctx, b.watch)
	if err := chromedp.Run(ctx, network.Enable(), log.Enable(), runtime.Enable()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) watch(e any) {
	fault := ""
	switch e := e.(type) {
	case *capture.EventJavascriptDialogOpening:
		b.mu.Lock()
		b.warned++
		b.mu.Unlock()
		go chromedp.Run(b.ctx, capture.HandleJavaScriptDialog(true)) // it ends with the browser
	case *network.EventRequestWillBeSent:
		b.mu.Lock()
		at := b.at
		b.mu.Unlock()
		if u := e.Request.URL; !strings.HasPrefix(u, at+"/") && !strings.HasPrefix(u, "data:") && u != "about:blank" {
			fault = "loads " + u
		}
	case *runtime.EventExceptionThrown:
		fault = "throws " + e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			fault = fmt.Sprint("writes to its console: ", e.Args)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			fault = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

// trouble returns the faults since the last call.
func (b *browser) trouble() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.faults
	b.faults = nil
	return all
}

// do runs actions with a time limit.
func (b *browser) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserPatience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var body string
		_ = chromedp.Run(b.ctx, chromedp.Text("body", &body, chromedp.ByQuery))
		t.Fatalf("%v\nthe page: %s", err, body)
	}
}

func (b *browser) open(path string) chromedp.Action { return chromedp.Navigate(b.at + path) }

// follow clicks a link and waits until its page is loaded. Otherwise, the old page could still answer.
func follow(selector string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := chromedp.RunResponse(ctx, chromedp.Click(selector, chromedp.ByQuery))
		return err
	})
}

// says waits until an element contains words, possibly on a page that is still loading.
func says(selector, words string) chromedp.Action {
	quoted, _ := json.Marshal([]string{selector, words})
	script := fmt.Sprintf("(([s, w]) => document.readyState === 'complete' && [...document.querySelectorAll(s)].some(e => e.textContent.includes(w)))(%s)", quoted)
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			said := false
			if err := chromedp.Evaluate(script, &said).Do(ctx); said && err == nil { // fails between two pages
				return nil
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf("%s does not say %q: %w", selector, words, ctx.Err())
			}
		}
	})
}

// within evaluates a script in the page.
func within[T any](b *browser, t *testing.T, script string) (answer T) {
	t.Helper()
	b.do(t, chromedp.Evaluate(script, &answer))
	return answer
}

func device(width, height int64, dark bool) chromedp.Tasks {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return chromedp.Tasks{
		chromedp.EmulateViewport(width, height), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
	}
}

// TestBrowser opens pages, light and dark, on a desktop and a phone. Where a browser is needed it opens all, with axe-core, and else some.
func TestBrowser(t *testing.T) {
	b := openBrowser(t)
	var axe []byte
	if needed() {
		var err error
		if axe, err = os.ReadFile(axePath); err != nil {
			t.Fatal(err)
		}
	}
	b.w.ask("POST", "/doctor", url.Values{})
	t.Run("pages", func(t *testing.T) {
		for i, path := range pagesOf() {
			if !needed() && i%5 != 0 {
				continue
			}
			b.inspect(t, axe, path, i%2 == 0)
		}
		if axe == nil {
			t.Log("axe-core was not asked: .ci/nightly installs it with npm and asks it")
		}
	})
	b.trouble()
	t.Run("sign in", func(t *testing.T) { b.signIn(t, axe) })
	t.Run("live turns", b.liveTurns)
	t.Run("a character", b.character)
	t.Run("memory", b.memory)
	t.Run("another site", b.elsewhere)
	t.Run("keys", b.keys)
	t.Run("zone", b.zone)
	t.Run("without JavaScript", b.unscripted)
}

// inspect opens a page, light and dark and as wide as a phone.
func (b *browser) inspect(t *testing.T, axe []byte, path string, dark bool) {
	t.Helper()
	b.do(t, device(1280, 800, dark), b.open(path))
	if all := b.trouble(); all != nil {
		t.Errorf("%s: %q", path, all)
	}
	if axe != nil && !alike(path) {
		for _, dark := range []bool{!dark, dark} {
			b.do(t, device(1280, 800, dark), chromedp.Evaluate(string(axe), nil))
			for _, v := range b.violations(t) {
				t.Errorf("%s, dark %v: %s", path, dark, v)
			}
		}
	}
	b.do(t, device(390, 844, !dark))
	if wide := within[int](b, t, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("%s is %d wide on a phone", path, wide)
	}
}

// signIn visits a console that wants a token, first with a wrong one.
func (b *browser) signIn(t *testing.T, axe []byte) {
	defer b.goTo(b.at)
	b.goTo(serve(t, newWorld(t, func(c *Config) { c.Token = "correct-horse-battery" })).url)
	b.inspect(t, axe, "/login", false)
	enter := func(token string) chromedp.Action {
		return chromedp.Tasks{chromedp.SendKeys("#token", token, chromedp.ByQuery), follow("button.primary")}
	}
	b.do(t, b.open("/turns"), says("h1", "Sign in"), enter("a guess"), says(".problem", "This is not the token"), enter("correct-horse-battery"), says("h1", "Now"))
	b.trouble() // the browser reports the status 401
	b.inspect(t, axe, "/sessions", true)
	b.do(t, says("td", "this one"), device(1280, 800, false), follow(`form[action="/logout"] button`), says("h1", "Sign in"), b.open("/sessions"), says("h1", "Sign in"))
}

// goTo shows another console from now on.
func (b *browser) goTo(at string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = at
}

// alike reports whether a page has the same structure as another. Such pages are not checked, because axe is slow.
func alike(path string) bool {
	return strings.Contains(path, "?") && !strings.Contains(path, "tab=sources") && !strings.Contains(path, "sort:") && !strings.HasPrefix(path, "/sources/") || strings.HasSuffix(path, "993")
}

// violations returns the serious and critical problems that axe finds.
func (b *browser) violations(t *testing.T) (all []string) {
	t.Helper()
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
	await := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	b.do(t, chromedp.Evaluate(`axe.run({resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => r.violations)`, &found, await))
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			all = append(all, fmt.Sprintf("%s (%s): %s", v.ID, v.Help, v.Nodes[0].HTML+" "+v.Nodes[0].FailureSummary))
		}
	}
	return all
}

func (b *browser) liveTurns(t *testing.T) {
	b.do(t, device(1280, 800, false), b.open("/"), says("#live-text", "live"))
	p := b.w.begin(t, "01RUN1", "Hugo", "901", "what is the tallest tree?", time.Second)
	b.w.feed.Publish(p)
	b.do(t, says("#runs .run", "what is the tallest tree?"), says("#runs .run", "collecting context"))
	p.Activity, p.N = turn.Reading, 4
	b.w.feed.Publish(p)
	b.do(t, says("#runs .run", "reading 4 pages"))
	p.Phase, p.Took = turn.Answered, 2*time.Second
	b.w.feed.Publish(p)
	b.do(t, says("#recent td.q", "what is the tallest tree?"), says("#news", "what is the tallest tree?"))
	if n := within[int](b, t, `document.querySelectorAll("#runs .run").length`); n != 0 {
		t.Errorf("%d turns are running", n)
	}
	if all := b.trouble(); all != nil {
		t.Errorf("%q", all)
	}
	// A page that was refused tries again, as it says.
	var others []*reader
	b.do(t, b.open("/turns"))
	for range maxPages {
		if other, ok := b.w.feed.join(); ok {
			others = append(others, other)
		}
	}
	b.do(t, b.open("/"), says("#live-text", "trying again"))
	for _, other := range others {
		b.w.feed.leave(other)
	}
	b.do(t, chromedp.Poll(`document.getElementById("live-text").textContent === "live"`, nil))
	b.trouble() // the browser reports the refusal
}

// zone shows times in the reader's zone, with its name.
func (b *browser) zone(t *testing.T) {
	defer b.do(t, emulation.SetTimezoneOverride(""))
	b.do(t, emulation.SetTimezoneOverride("Asia/Kathmandu"), b.open("/turn/01KB0000000000000000001000"), says("#zone", "Asia/Ka"))
	at := within[string](b, t, `document.querySelector(".facts time").dateTime`)
	began, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	there := began.In(time.FixedZone("", 5*3600+45*60)).Format("15:04")
	if shown := within[string](b, t, `document.querySelector(".facts time").textContent`); !strings.Contains(shown, there) {
		t.Errorf("%s is shown as %q, want %s", at, shown, there)
	}
}

// character edits a character, first with a mistake and then correctly.
func (b *browser) character(t *testing.T) {
	b.do(t, b.open("/characters/sage?file=character.toml"), says("#verdict", "In order"))
	was := within[string](b, t, `document.getElementById("text").value`)
	// Typed like a person, one key at a time.
	b.do(t, chromedp.Focus("#text", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById("text").setSelectionRange(0, 0)`, nil), chromedp.SendKeys("#text", "nmae = 1\n", chromedp.ByQuery))
	b.do(t, says("#verdict", "Refused"), says("#verdict .place", "line "), says("#verdict", "nmae"))
	now := within[string](b, t, `document.getElementById("text").value`)
	at := strings.Count(now[:strings.Index(now, "nmae")], "\n") + 1
	b.do(t, says("#verdict .place", fmt.Sprintf("line %d, column 1", at)), chromedp.Click("#edit button.primary", chromedp.ByQuery), says(".problem", "It was not saved"), says("#verdict", fmt.Sprintf("line %d, column 1", at)))
	if c := b.w.cast.get("sage"); c.Name != "Sage" {
		t.Errorf("%s is active", c.Name)
	}
	faults := b.trouble() // the browser reports the status 422 of the page
	if faults = slices.DeleteFunc(faults, func(f string) bool { return strings.Contains(f, "422") }); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	b.do(t, b.open("/characters/sage?file=character.toml"))
	if b.mu.Lock(); b.warned == 0 {
		t.Error("a text that was refused is left without a question")
	}
	b.mu.Unlock()
	named := regexp.MustCompile(`"Sage"`).ReplaceAllString(was, `"Minerva"`)
	quoted, _ := json.Marshal(named)
	b.do(t, b.open("/characters/sage?file=character.toml"), chromedp.Evaluate(fmt.Sprintf(`{ const t = document.getElementById("text"); t.value = %s; t.dispatchEvent(new Event("input")); }`, quoted), nil),
		says("#verdict", "You are Minerva"), chromedp.Click("#edit button.primary", chromedp.ByQuery), says(".notice", "in force from the next turn on"), says("h1", "Minerva"))
	if c := b.w.cast.get("sage"); c.Name != "Minerva" {
		t.Errorf("%s is active", c.Name)
	}
	if all := b.trouble(); all != nil {
		t.Errorf("%q", all)
	}
}

func (b *browser) memory(t *testing.T) {
	b.do(t, b.open("/memory?q=hazelnuts"), follow(".card a"), chromedp.WaitVisible("#text", chromedp.ByQuery),
		chromedp.SetValue("#text", "Ada is allergic to walnuts.", chromedp.ByQuery), chromedp.Click("button.primary", chromedp.ByQuery), says(".notice", "corrected"), says("main", "hazelnuts"))
	b.do(t, chromedp.Click("a.danger", chromedp.ByQuery), says("h1", "Delete this statement?"), chromedp.Click(`main .acts a`, chromedp.ByQuery), says("h1", "Statement"),
		chromedp.Click("a.danger", chromedp.ByQuery), says("h1", "Delete this statement?"), chromedp.Click("button.danger", chromedp.ByQuery), says(".notice", "Deleted"), b.open("/memory?q=walnuts"), says(".empty", "Nothing like that"))
	if all := b.trouble(); all != nil {
		t.Errorf("%q", all)
	}
}

// elsewhere is another site with a page that sends a form to the console.
func (b *browser) elsewhere(t *testing.T) {
	form := `<form method=post action="` + b.at + `/memory/2/delete"><button>x</button></form>`
	b.do(t, chromedp.Navigate("data:text/html,"+url.PathEscape(form)), chromedp.Click("button", chromedp.ByQuery), says("body", "sent by another site"))
	if rec := b.w.ask("GET", "/memory/2", nil); rec.Code != 200 {
		t.Error("the statement is gone")
	}
	b.trouble()
}

func (b *browser) keys(t *testing.T) {
	b.do(t, b.open("/"), chromedp.KeyEvent("g"), chromedp.KeyEvent("s"), says("h1", "Search"), chromedp.KeyEvent("/"))
	if at := within[string](b, t, "document.activeElement.name"); at != "q" {
		t.Errorf("the key / goes to %q", at)
	}
	b.do(t, b.open("/turns?q=moons+sort:took"), chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"), chromedp.KeyEvent("o"), says(".tabs", "Answer"))
	b.do(t, chromedp.KeyEvent("?"), says("dialog[open]", "the search"))
	b.do(t, b.open("/"), chromedp.KeyEvent("\t"))
	if at := within[string](b, t, "document.activeElement.textContent"); at != "Skip to the page" {
		t.Errorf("the first focused element is %q", at)
	}
}

// unscripted reads and edits with JavaScript disabled.
func (b *browser) unscripted(t *testing.T) {
	off := emulation.SetScriptExecutionDisabled(true)
	b.do(t, off)
	defer b.do(t, emulation.SetScriptExecutionDisabled(false))
	b.do(t, b.open("/turns?q=moons"), follow("td.q a"), chromedp.WaitVisible(".steps", chromedp.ByQuery),
		follow(`.tabs a[href*="prompt"]`), chromedp.WaitVisible(".prompt", chromedp.ByQuery),
		b.open("/characters/sage?file=persona.md"), chromedp.WaitVisible("#check", chromedp.ByQuery), follow("#check"), chromedp.WaitVisible("#verdict h2.good", chromedp.ByQuery),
		follow(`.themes button[value="dark"]`), chromedp.WaitVisible(`html[data-theme="dark"]`, chromedp.ByQuery))
	b.do(t, follow(`.themes button[value="system"]`), chromedp.WaitVisible("html:not([data-theme])", chromedp.ByQuery))
}

// TestScreenshots makes the pictures of the pages if a folder is given.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("it makes pictures, and no folder is named for them: -screenshots ../../doc/console")
	}
	b := openBrowser(t)
	b.w.feed.Publish(b.w.begin(t, "01RUN1", "Hugo", "901", "what is the tallest tree in the world, and can one visit it?", 4*time.Second))
	p := b.w.begin(t, "01RUN2", "Iris", "902", "is the ISS over Europe tonight?", 2*time.Second)
	p.Activity, p.N = turn.Reading, 3
	b.w.feed.Publish(p)
	b.w.ask("POST", "/doctor", url.Values{})
	const id = "/turn/01KB0000000000000000001000"
	b.w.ask("POST", id+"/replay", url.Values{"character": {"sage"}, "model": {"small-7b"}, "ask": {"model"}})
	b.w.ask("POST", "/person/7Ada/count", url.Values{})
	b.w.ask("POST", "/operate/check", url.Values{})
	shots := []struct{ name, path string }{
		{"now", "/"}, {"turn", id}, {"turn-sources", id + "?tab=sources"}, {"turn-prompt", id + "?tab=prompt"}, {"search", "/turns"}, {"lookups", "/lookups"}, {"sources", "/sources"}, {"trust", "/sources/sage"}, {"backends", "/backends"},
		{"memory", "/memory"}, {"statement", "/memory/1"}, {"delete", "/memory/1/delete"}, {"characters", "/characters"}, {"editor", "/characters/sage"}, {"calls", id + "?tab=calls&n=0"}, {"health", "/health"},
		{"channel", "/channel/902"}, {"person", "/person/7Ada"}, {"operate", "/operate"}, {"replay", id + "/replay"}, {"channels", "/channels"}, {"usage", "/usage"}, {"doctor", "/doctor"},
	}
	folder, format, ending := *screenshots, capture.CaptureScreenshotFormatWebp, ".webp"
	if strings.HasSuffix(folder, ".png") {
		format, ending = capture.CaptureScreenshotFormatPng, ".png"
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []struct {
		name          string
		width, height int64
		dark          bool
	}{{"desktop-light", 1280, 860, false}, {"desktop-dark", 1280, 860, true}, {"phone-light", 390, 844, false}, {"phone-dark", 390, 844, true}} {
		for _, s := range shots {
			var picture []byte
			ready := says("body", "")
			if s.path == "/" {
				ready = says("#live-text", "live")
			}
			b.do(t, device(d.width, d.height, d.dark), b.open(s.path), ready, chromedp.ActionFunc(func(ctx context.Context) (err error) {
				shot := capture.CaptureScreenshot().WithFormat(format)
				if ending == ".webp" {
					shot = shot.WithQuality(82)
				}
				picture, err = shot.Do(ctx)
				return err
			}))
			if len(picture) > 100<<10 && ending == ".webp" {
				t.Errorf("%s is %d bytes", s.name, len(picture))
			}
			if err := os.WriteFile(filepath.Join(folder, s.name+"-"+d.name+ending), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
