package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/wait"
)

// drawing makes the bytes of a file of an archive. Of a picture the file says how large it is, "640x480", or how large it claims to
// be, "claims 60000x60000". Where the name does not end as that of a picture, "bytes" and a quoted Go string is any file. A .zip has a line for
// each of its files: its name, and what it would be here.
func drawing(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	text := strings.TrimSpace(string(data))
	if raw, ok := strings.CutPrefix(text, "bytes "); ok {
		s, err := strconv.Unquote(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return []byte(s)
	}
	if path.Ext(name) == ".zip" {
		return packed(t, text)
	}
	claim, claims := strings.CutPrefix(text, "claims ")
	var width, height int
	if _, err := fmt.Sscanf(claim, "%dx%d", &width, &height); err != nil {
		return data
	}
	if claims {
		return claiming(uint32(width), uint32(height))
	}
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.NRGBA{R: 200, A: 255}, color.White})
	var b bytes.Buffer
	var err error
	switch path.Ext(strings.ToLower(name)) {
	case ".png":
		err = png.Encode(&b, m)
	case ".jpg":
		err = jpeg.Encode(&b, m, nil)
	case ".gif":
		err = gif.Encode(&b, m, nil)
	default:
		return data
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packed makes an archive of such lines.
func packed(t *testing.T, text string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for line := range strings.Lines(text) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		w, err := z.Create(unescape(name))
		if err == nil {
			_, err = w.Write(drawing(t, name, []byte(what)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// claiming is a PNG that says how large it is, and has no pixels.
func claiming(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	head = append(binary.BigEndian.AppendUint32(head, height), 8, 6, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
}

// attaching is what people attach, and what became of it.
func (c *conversation) attaching() map[string]func(string) {
	attach := func(expired bool) func(string) {
		return func(rest string) {
			channel, who, rest := words3(rest)
			files, text, _ := strings.Cut(rest, " ")
			c.lastSaid = c.discord.Post(discordtest.Post{Channel: channel, Author: who, Text: unescape(text), Files: c.attachments(files), Expired: expired})
		}
	}
	voice := func(channel, who, rest, replyTo string) {
		seconds, words, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseFloat(seconds, 64)
		c.must(err)
		c.lastSaid = c.discord.Post(discordtest.Post{Channel: channel, Author: who, ReplyTo: replyTo, Files: []discordtest.File{
			{Name: "voice-message.ogg", Type: "audio/ogg", Content: llmtest.Speech(words), Seconds: n}}})
	}
	return map[string]func(string){
		"attach": attach(false),
		"sendcard": func(rest string) {
			who, file, _ := strings.Cut(rest, " ")
			order := discordtest.Order{Channel: "general", Author: who, Command: "character", File: &c.attachments(file)[0]}
			if who == "ana" {
				order.May = discordtest.ManageServer
			}
			c.hearAnswer(c.discord.Order(order), 1)
		},
		"stale": attach(true),
		"face": func(rest string) {
			channel, want, _ := strings.Cut(rest, " ")
			shown := func() string {
				names := slices.Sorted(maps.Keys(c.own(channel).Files))
				return cmp.Or(strings.Join(names, " "), "-")
			}
			if !wait.Until(func() bool { return shown() == want }) {
				c.Errorf("there is %s", shown())
			}
			for name, content := range c.own(channel).Files {
				p, err := png.DecodeConfig(strings.NewReader(content))
				if err != nil || p.Width > 256 || p.Height > 256 {
					c.Errorf("%s: %v, %d×%d", name, err, p.Width, p.Height)
				}
			}
		},
		"fileless": c.discord.DenyFiles,
		"reply": func(rest string) {
			channel, who, text := words3(rest)
			c.lastSaid = c.discord.Reply(channel, who, c.lastSaid, unescape(text), false)
		},
		"voice": func(rest string) {
			channel, who, rest := words3(rest)
			voice(channel, who, rest, "")
		},
		"voiceanswer": func(rest string) {
			channel, who, rest := words3(rest)
			voice(channel, who, rest, c.own(channel).ID)
		},
		"forward": func(rest string) {
			channel, who, text := words3(rest)
			c.lastSaid = c.discord.Post(discordtest.Post{Channel: channel, Author: who, Forwards: []discordtest.Forward{{Text: unescape(text)}}})
		},
		"embed": func(rest string) {
			channel, who, text := words3(rest)
			c.lastSaid = c.discord.Post(discordtest.Post{Channel: channel, Author: who, Bot: true, Embeds: []discordtest.Embed{{Site: "News", Text: unescape(text)}}})
		},
		"deletefirst": func(channel string) { c.discord.Delete(c.discord.Messages(channel)[0].ID) },
		"pictured": func(size string) {
			all := c.pictures()
			if len(all) == 0 {
				c.Error("no picture")
				return
			}
			last := all[len(all)-1]
			m, err := jpeg.DecodeConfig(bytes.NewReader(last.Data))
			if got := fmt.Sprintf("%d×%d", m.Width, m.Height); err != nil || got != size || last.Type != "image/jpeg" {
				c.Errorf("%s %s, %v", last.Type, got, err)
			}
		},
		"loaded": func(rest string) {
			name, n, _ := strings.Cut(rest, " ")
			if got := strconv.Itoa(c.discord.FileHits(name)); got != n {
				c.Errorf("%s times", got)
			}
		},
	}
}

// attachments are files of the archive as they are attached.
func (c *conversation) attachments(list string) (all []discordtest.File) {
	for item := range strings.SplitSeq(list, ",") {
		item, alt, _ := strings.Cut(item, ":")
		file, name, renamed := strings.Cut(item, "=")
		if !renamed {
			name = file
		}
		data, ok := c.files[file]
		if !ok {
			c.Fatalf("no file %q", file)
		}
		spaced := func(s string) string { return unescape(strings.ReplaceAll(s, "+", " ")) }
		all = append(all, discordtest.File{Name: spaced(name), Alt: spaced(alt), Content: data})
	}
	return all
}

// pictures are those of the last prompt of the main model.
func (c *conversation) pictures() []llmtest.Image {
	for _, r := range slices.Backward(c.model.Requests()) {
		if r.Model == "main" {
			return r.Images()
		}
	}
	return nil
}
