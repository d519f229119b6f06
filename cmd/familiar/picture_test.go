package main

import (
	"bytes"
	"flag"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"familiar/internal/test/discordtest"
	"github.com/rogpeppe/go-internal/txtar"
)

var drawReply = flag.Bool("picture", false, "draw doc/reply.png from what TestPicture sees; needs chromium")

// TestPicture plays the conversation that the README shows. It is an answer with its sources, and why it was given.
func TestPicture(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "picture", "reply.txtar")
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(t, archive)
	c.play(file, archive)
	shown := c.discord.Messages("general")
	c.do(file, "menu general mira Why this answer?")
	c.look(c.output, "found, 2 of 2 pages read", true)
	shown = append(shown, c.answer)
	c.stop()
	if *drawReply && !t.Failed() {
		drawMessages(t, shown, filepath.Join("..", "..", "doc", "reply.png"))
	}
}

// drawMessages makes a picture of messages.
func drawMessages(t *testing.T, shown []discordtest.Message, to string) {
	t.Helper()
	var page bytes.Buffer
	err := template.Must(template.New("").Funcs(template.FuncMap{"markdown": asHTML}).Parse(messagesPage)).Execute(&page, shown)
	if err != nil {
		t.Fatal(err)
	}
	html := filepath.Join(t.TempDir(), "reply.html")
	if err := os.WriteFile(html, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1.5",
		"--window-size=760,1032", "--screenshot="+to, "file://"+html).CombinedOutput()
	if err != nil {
		t.Fatalf("chromium: %v: %s", err, out)
	}
}

// asHTML is a message's Markdown, as far as the bot's own messages have it.
func asHTML(text string) template.HTML {
	text = template.HTMLEscapeString(text)
	for _, r := range []struct{ from, to string }{
		{`(?m)^-# (.*)$`, `<small>$1</small>`}, {`(?m)^#+ (.*)$`, `<h3>$1</h3>`}, {`(?m)^&gt; (.*)$`, `<q>$1</q>`},
		{`\[(\[\d+\]|[^\]]+)\]\(&lt;(.*?)&gt;\)`, `<a>$1</a>`}, {`&lt;(https?:.*?)&gt;`, `<a>$1</a>`},
		{"(?s)```\n?(.*?)\n?```", `<pre>$1</pre>`}, {"`([^`]+)`", `<code>$1</code>`}, {`\*\*(.+?)\*\*`, `<b>$1</b>`}, {`&lt;@\d+&gt;`, `<mark>@Sage</mark>`},
	} {
		text = regexp.MustCompile(r.from).ReplaceAllString(text, r.to)
	}
	return template.HTML(text)
}

const messagesPage = `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 18px 22px; background: #22242a; color: #dfe1e6; font: 15px/1.42 "Noto Sans", "DejaVu Sans", system-ui, sans-serif; }
article { display: grid; grid-template-columns: 44px 1fr; gap: 0 12px; margin: 0 0 14px; }
i { width: 40px; height: 40px; border-radius: 50%; background: #5b7c99; color: #fff; font: 600 18px/40px system-ui; text-align: center; }
.own i { background: #3f7d5c; }
header { font-weight: 600; } header small { font-weight: 400; margin-left: 6px; }
div.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.private div.text { border-left: 3px solid #3f7d5c; background: #2a2d34; padding: 10px 14px; border-radius: 6px; font-size: 13px; }
small { color: #989ca6; font-size: 12.5px; } h3 { margin: 0; font-size: 1.1em; } q { quotes: none; border-left: 3px solid #50545e; padding-left: 9px; display: block; }
a { color: #6cb2f7; } mark { background: #3c4470; color: #c9d2ff; border-radius: 3px; padding: 0 2px; }
pre, code { font-family: "DejaVu Sans Mono", monospace; font-size: 12px; background: #1b1d22; border-radius: 4px; } pre { margin: 2px 0; padding: 6px 9px; white-space: pre-wrap; } code { padding: 1px 4px; }
nav { margin-top: 6px; } nav span { display: inline-block; background: #373a43; border-radius: 6px; padding: 4px 12px; margin: 0 6px 4px 0; font-size: 13px; }
nav .off { opacity: .45; }
</style>{{range .}}<article class="{{if .Own}}own{{end}} {{if .Ephemeral}}private{{end}}"><i>{{slice .Author 0 1}}</i><div>
<header>{{.Author}} <small>{{.At.Format "15:04"}}{{if .Ephemeral}} · only you can see this{{end}}</small></header>
<div class="text">{{markdown .Text}}</div><nav>{{range .Buttons}}<span{{if .Disabled}} class="off"{{end}}>{{.Label}}</span>{{end}}</nav></div></article>{{end}}`
