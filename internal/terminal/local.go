package terminal

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// smallType begins a line that Discord shows in small type. The program writes its own notes in it.
const smallType = "-# "

// utterance is what one side said, as Markdown.
type utterance struct{ who, text string }

// local is a command that only a terminal has. run reports whether to leave.
type local struct {
	help string
	run  func(d *Door, ctx context.Context, rest string) (leave bool)
}

// locals maps names to commands.
var locals = map[string]local{
	"clear":   {"Begin a new conversation", (*Door).clear},
	"retry":   {"Ask the last question again", (*Door).retry},
	"copy":    {"Copy the last answer, if the terminal lets me", (*Door).copy},
	"save":    {"Write the conversation into a file: /save talk.md", (*Door).save},
	"sources": {"Show where the last answer's facts were read", (*Door).sources},
	"quit":    {"Leave; Ctrl-D does, too", (*Door).quit},
	"exit":    {"", (*Door).quit},
}

// Commands returns the names of the commands that only a terminal has, sorted.
func Commands() []string { return slices.Sorted(maps.Keys(locals)) }

// Complete returns the commands that begin with line, each with its description.
func Complete(line string) (all [][2]string) {
	for _, name := range Commands() {
		if l := locals[name]; l.help != "" && strings.HasPrefix("/"+name, line) && line != "" {
			all = append(all, [2]string{"/" + name, l.help})
		}
	}
	return all
}

// help lists the commands with their descriptions.
func help() string {
	var b strings.Builder
	b.WriteString("\nAt a terminal also:\n")
	for _, name := range Commands() {
		if l := locals[name]; l.help != "" {
			fmt.Fprintf(&b, "/%s – %s\n", name, l.help)
		}
	}
	return b.String()
}

func (d *Door) quit(context.Context, string) bool { return true }

func (d *Door) clear(context.Context, string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.channel, d.said, d.last = Channel+"-"+d.NewID(), nil, ""
	if d.Screen != nil {
		fmt.Fprint(d.Out, "\x1b[H\x1b[2J") // ECMA-48, CUP and ED
	}
	fmt.Fprintln(d.Out, "A new conversation. The last one is kept: familiar chat begins with it again.")
	return false
}

func (d *Door) retry(ctx context.Context, _ string) bool {
	d.mu.Lock()
	last := d.last
	d.mu.Unlock()
	if last == "" {
		d.print("There is no question yet to ask again.\n")
		return false
	}
	d.say(ctx, last)
	return false
}

// copy sends the last answer to the terminal's clipboard: OSC 52,
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html.
func (d *Door) copy(context.Context, string) bool {
	text, _ := withoutNotes(d.answer())
	switch {
	case text == "":
		d.print("There is no answer yet to copy.\n")
	case d.Screen == nil:
		d.print("There is no terminal whose clipboard I could use.\n")
	default:
		d.print("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x07")
		d.print("Handed to the terminal's clipboard. Some terminals keep programs out of it; /save writes a file.\n")
	}
	return false
}

func (d *Door) save(_ context.Context, name string) bool {
	d.mu.Lock()
	var text strings.Builder
	for _, u := range d.said {
		fmt.Fprintf(&text, "**%s:** %s\n\n", u.who, Plain(u.text))
	}
	d.mu.Unlock()
	switch {
	case name == "":
		d.print("Say into which file: /save talk.md\n")
	case text.Len() == 0:
		d.print("Nothing was said yet.\n")
	case d.Save == nil:
		d.print("Nothing can be saved from here.\n")
	default:
		if err := d.Save(name, []byte(text.String())); err != nil {
			d.print(fmt.Sprintf("Not saved: %v\n", err))
			return false
		}
		d.print("Saved in " + name + ".\n")
	}
	return false
}

func (d *Door) sources(context.Context, string) bool {
	_, notes := withoutNotes(d.answer())
	if len(notes) == 0 {
		d.print("The last answer names no sources.\n")
		return false
	}
	d.print(Plain(strings.Join(notes, "\n")) + "\n")
	return false
}

// answer returns the character's last answer, or "".
func (d *Door) answer() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range slices.Backward(d.said) {
		if u.who == d.Name {
			return u.text
		}
	}
	return ""
}

// withoutNotes separates a reply from the lines in small type at its end.
func withoutNotes(text string) (body string, notes []string) {
	lines := strings.Split(text, "\n")
	end := len(lines)
	for end > 0 && (strings.HasPrefix(lines[end-1], smallType) || strings.TrimSpace(lines[end-1]) == "") {
		end--
	}
	for _, line := range lines[end:] {
		if line != "" {
			notes = append(notes, line)
		}
	}
	return strings.Join(lines[:end], "\n"), notes
}

// sourceLine matches the note for a source: its number, and its address at the end.
var sourceLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-# \[(\d+)\].*<(https?://[^>\s]+)>`) })

// folded replaces the list of sources at the end of a reply by one line with their sites.
func folded(text string) string {
	body, notes := withoutNotes(text)
	var sites, others []string
	for _, note := range notes {
		m := sourceLine().FindStringSubmatch(note)
		if m == nil {
			others = append(others, note)
			continue
		}
		if u, err := url.Parse(m[2]); err == nil {
			sites = append(sites, fmt.Sprintf("[%s] %s", m[1], strings.TrimPrefix(u.Hostname(), "www.")))
		}
	}
	if len(sites) == 0 {
		return text
	}
	others = slices.DeleteFunc(others, func(note string) bool { return note == "-# Sources" })
	line := smallType + strings.Join(sites, " · ") + " · /sources"
	return body + "\n\n" + strings.Join(append(others, line), "\n")
}
