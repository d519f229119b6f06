package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// browser is a Chromium with one tab, driven through two pipes.
type browser struct {
	process  *exec.Cmd
	dir      string
	commands *os.File
	answers  *bufio.Reader
	session  string
	last     int // id of the last command
	plainInk int // pixels that a text covers in plain black on white; 0 until it is measured
}

const patience = 20 * time.Second // for one answer

func openBrowser() (*browser, error) {
	dir, err := os.MkdirTemp("", "judge")
	if err != nil {
		return nil, fmt.Errorf("make a profile: %w", err)
	}
	b := &browser{dir: dir}
	b.process = exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
		"--window-size=1280,720", "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-lcd-text",
		"--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4", // a mouse
		"--user-data-dir="+dir, "about:blank")
	if err := b.start(); err != nil {
		b.close()
		return nil, fmt.Errorf("start chromium: %w", err)
	}
	if err := b.attach(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// start starts the process. It reads commands from its file 3 and writes answers to its file 4.
func (b *browser) start() error {
	theirs, commands, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	answers, theirsToo, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirsToo.Close()
	b.commands, b.answers = commands, bufio.NewReader(answers)
	b.process.ExtraFiles = []*os.File{theirs, theirsToo}
	return b.process.Start()
}

func (b *browser) close() {
	if b.process.Process != nil {
		b.process.Process.Kill()
		b.process.Wait()
	}
	os.RemoveAll(b.dir)
}

// attach attaches to the tab and prepares it.
func (b *browser) attach() error {
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	if err := b.call("Target.getTargets", nil, &targets); err != nil {
		return err
	}
	for _, t := range targets.TargetInfos {
		if t.Type == "page" {
			var attached struct{ SessionID string }
			if err := b.call("Target.attachToTarget", object{"targetId": t.TargetID, "flatten": true}, &attached); err != nil {
				return err
			}
			b.session = attached.SessionID
		}
	}
	for _, c := range []struct {
		name string
		args object
	}{
		{"Page.enable", nil},
		{"Emulation.setDeviceMetricsOverride", object{"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false}},
		// Every letter gets the width of a blank, so that blanks can replace letters.
		{"Page.setFontFamilies", object{"fontFamilies": object{"standard": "DejaVu Sans Mono", "serif": "DejaVu Sans Mono", "sansSerif": "DejaVu Sans Mono", "fixed": "DejaVu Sans Mono"}}},
	} {
		if err := b.call(c.name, c.args, nil); err != nil {
			return err
		}
	}
	return nil
}

type object map[string]any

// call sends a command and waits for its answer. Events are dropped.
func (b *browser) call(method string, args object, result any) error {
	b.last++
	command := object{"id": b.last, "method": method, "params": args}
	if args == nil {
		command["params"] = object{}
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	stuck := time.AfterFunc(patience, func() { b.process.Process.Kill() })
	defer stuck.Stop()
	if _, err := b.commands.Write(append(text, 0)); err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	for {
		text, err := b.answers.ReadBytes(0)
		if err != nil {
			return fmt.Errorf("call %s: %w", method, err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil {
			return fmt.Errorf("call %s: %w", method, err)
		}
		switch {
		case answer.ID != b.last:
		case answer.Error != nil:
			return fmt.Errorf("call %s: %s", method, answer.Error.Message)
		case result != nil:
			return json.Unmarshal(answer.Result, result)
		default:
			return nil
		}
	}
}

func (b *browser) evaluate(script string, result any) error {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	if err := b.call("Runtime.evaluate", object{"expression": script, "returnByValue": true, "awaitPromise": true}, &answer); err != nil {
		return err
	}
	if answer.ExceptionDetails != nil {
		return fmt.Errorf("evaluate: %s", answer.ExceptionDetails.Text)
	}
	if result == nil || answer.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, result)
}

func (b *browser) screenshot() (*image.RGBA, error) {
	var shot struct{ Data string }
	if err := b.call("Page.captureScreenshot", object{"format": "png", "optimizeForSpeed": true}, &shot); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		return nil, fmt.Errorf("decode screenshot: %w", err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decode screenshot: %w", err)
	}
	if rgba, ok := picture.(*image.RGBA); ok {
		return rgba, nil
	}
	rgba := image.NewRGBA(picture.Bounds())
	draw.Draw(rgba, rgba.Bounds(), picture, image.Point{}, draw.Src)
	return rgba, nil
}

// settle moves animations to their state after a minute.
const settle = `(async () => {
	while (document.readyState !== 'complete') await new Promise(r => setTimeout(r, 10));
	for (const a of document.getAnimations()) {
		if (a.playState === 'paused' || a.timeline !== document.timeline) continue;
		const t = a.effect.getComputedTiming();
		if (t.endTime <= 60000) a.finish(); else a.currentTime = 60000;
	}
	await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
})()`

// blank replaces the letters of a text by blanks, in the page and in shadow trees, or restores them.
const blank = `(async (word, back) => {
	const visit = root => {
		for (const n of root.childNodes) {
			if ((n.nodeType === 3 || n.nodeType === 4) && !back && n.data.includes(word)) { n.judged = n.data; n.data = n.data.replace(/\S/g, '\u00a0'); }
			else if ((n.nodeType === 3 || n.nodeType === 4) && back && n.judged) { n.data = n.judged; delete n.judged; }
			visit(n);
			if (n.shadowRoot) visit(n.shadowRoot);
		}
	};
	visit(document);
	await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
})`

// judge returns which texts of a page are visible.
func (b *browser) judge(c testCase) (map[string]bool, error) {
	if b.plainInk == 0 {
		ink, err := b.ink(testCase{page: "<!doctype html><p>" + sentence("q000"), words: []string{"q000"}})
		if err != nil {
			return nil, err
		}
		b.plainInk = ink["q000"]
	}
	ink, err := b.ink(c)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for word, n := range ink {
		switch {
		case n*4 >= b.plainInk:
			seen[word] = true
		case n*25 <= b.plainInk:
			seen[word] = false
		default:
			fmt.Fprintf(os.Stderr, "%s is not clear (%d of %d): %s\n", word, n, b.plainInk, c.page)
		}
	}
	return seen, nil
}

// ink counts the pixels that each text changes.
func (b *browser) ink(c testCase) (map[string]int, error) {
	name := "page.html"
	if strings.HasPrefix(c.page, "<?xml") {
		name = "page.xhtml"
	}
	file := filepath.Join(b.dir, name)
	if err := os.WriteFile(file, []byte(c.page), 0o600); err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	address := url.URL{Scheme: "file", Path: file, RawQuery: c.words[0]} // a new address each time, so that the browser reloads it
	if err := b.call("Page.navigate", object{"url": address.String()}, nil); err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; {
		var at string
		if err := b.evaluate("location.search.slice(1)", &at); err == nil && at == c.words[0] {
			break
		} else if time.Now().After(end) {
			return nil, fmt.Errorf("load page: at %q: %w", at, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	if err := b.evaluate(settle, nil); err != nil {
		return nil, err
	}
	with, err := b.screenshot()
	if err != nil {
		return nil, err
	}
	ink := map[string]int{}
	for _, word := range c.words {
		if err := b.evaluate(fmt.Sprintf("%s(%q, false)", blank, word), nil); err != nil {
			return nil, err
		}
		without, err := b.screenshot()
		if err != nil {
			return nil, err
		}
		ink[word] = different(with, without)
		if err := b.evaluate(fmt.Sprintf("%s(%q, true)", blank, word), nil); err != nil {
			return nil, err
		}
	}
	return ink, nil
}

// clear is the difference in a channel of two pixels that a person can see.
const clear = 25

func different(a, b *image.RGBA) (n int) {
	for i := 0; i+3 < min(len(a.Pix), len(b.Pix)); i += 4 {
		for c := range 3 {
			if d := int(a.Pix[i+c]) - int(b.Pix[i+c]); d >= clear || d <= -clear {
				n++
				break
			}
		}
	}
	return n
}
