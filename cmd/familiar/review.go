package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"familiar/internal/doctor"
)

// printReview prints the answers to the questions of Discord's yearly review. Nobody is asked anything.
func printReview(ctx context.Context, p *program) error {
	e, wrong := newExamination(p, true)
	defer e.close()
	if wrong != nil {
		return wrong
	}
	c := e.a.config
	r := doctor.Review{
		Name: e.a.character.Name, Messages: c.count("FAMILIAR_KEEP_MESSAGES"), Memory: c.count("FAMILIAR_KEEP_MEMORY"), Records: c.count("FAMILIAR_KEEP_RECORDS"),
		Grace: c.get("FAMILIAR_LEFT_SERVER_GRACE"), Learns: c.get("FAMILIAR_LEARN") == "on", Reactions: e.a.character.Reactions.Follow,
		Services: e.a.readers(), Disk: e.encryption(ctx)[0], Contact: c.get("FAMILIAR_CONTACT"),
	}
	_, err := fmt.Fprint(p.out, e.redact(r.Markdown()))
	return err
}

// readers are the services that are sent something of what people write, by the configuration.
func (a *app) readers() (all []doctor.Reader) {
	c := a.config
	host := func(address string) string {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			return u.Hostname()
		}
		return address
	}
	add := func(address, gets string) {
		if address != "" {
			all = append(all, doctor.Reader{Host: host(address), Gets: gets})
		}
	}
	main := c.get("OPENAI_BASE_URL")
	if main == "" && c.get("OPENAI_API_KEY") != "" {
		main = openAIBase
	}
	add(cmp.Or(main, "An Ollama on this machine, if one runs"), "the message, what was said before it and what is remembered that bears on it, to answer")
	if side := c.get("SIDE_BASE_URL"); side != "" && side != main {
		add(side, "pages that were found, to pick sentences; what was said, to summarise it and note what is worth remembering")
	}
	add(c.get("TRANSCRIBE_BASE_URL"), "voice messages that are meant for the bot, to write them down")
	add(c.get("EMBED_BASE_URL"), "the texts of all messages that are kept, to find them by their meaning")
	var searches []string
	for _, b := range a.backends.On {
		searches = append(searches, b.Name())
	}
	if c.get("FAMILIAR_WEB") != "off" && searches != nil {
		all = append(all, doctor.Reader{Host: "Search services (" + strings.Join(searches, ", ") + ")", Gets: "the words of a search, as far as they are not private, without who asked and what was said before"})
	}
	return all
}
