package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"familiar/internal/llm"
)

// Review returns the answers to the questions of Discord's yearly review of privileged intents, drawn from the configuration. No service is
// asked. The configuration must be in order.
func (e *Examination) Review(ctx context.Context) string {
	r := review{
		Name: e.Character, Messages: e.count("FAMILIAR_KEEP_MESSAGES"), Memory: e.count("FAMILIAR_KEEP_MEMORY"), Records: e.count("FAMILIAR_KEEP_RECORDS"),
		Grace: e.Setting("FAMILIAR_LEFT_SERVER_GRACE"), Learns: e.Setting("FAMILIAR_LEARN") == "on", Reactions: e.Reactions,
		Services: e.readers(), Disk: e.encryption(ctx)[0], Contact: e.Setting("FAMILIAR_CONTACT"),
	}
	return e.Redact(r.markdown())
}

// readers are the services that are sent something of what people write, by the configuration.
func (e *Examination) readers() (all []reader) {
	host := func(address string) string {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			return u.Hostname()
		}
		return address
	}
	add := func(address, gets string) {
		if address != "" {
			all = append(all, reader{Host: host(address), Gets: gets})
		}
	}
	main := e.Setting("OPENAI_BASE_URL")
	if main == "" && e.Setting("OPENAI_API_KEY") != "" {
		main = llm.OpenAI
	}
	add(cmp.Or(main, "A server of models on this machine, if one runs"), "the message, what was said before it and what is remembered that bears on it, to answer")
	if side := e.Setting("SIDE_BASE_URL"); side != "" && side != main {
		add(side, "pages that were found, to pick sentences; what was said, to summarise it and note what is worth remembering")
	}
	add(e.Setting("TRANSCRIBE_BASE_URL"), "voice messages that are meant for the bot, to write them down")
	add(e.Setting("SPEECH_BASE_URL"), "the words of replies that are said aloud")
	add(e.Setting("EMBED_BASE_URL"), "the texts of all messages that are kept, to find them by their meaning")
	var searches []string
	for _, b := range e.Backends.On {
		searches = append(searches, b.Name())
	}
	if e.Setting("FAMILIAR_WEB") != "off" && searches != nil {
		all = append(all, reader{Host: "Search services (" + strings.Join(searches, ", ") + ")", Gets: "the words of a search, as far as they are not private, without who asked and what was said before"})
	}
	return all
}

// review answers the questions of Discord's review of privileged intents from the configuration. An app that 10,000 people can see has to
// answer them once a year. https://support-dev.discord.com/hc/en-us/articles/6207308062871
type review struct {
	Name      string   // of the character
	Messages  int      // days for which messages are kept
	Memory    int      // days for which what it learned is kept
	Records   int      // days for which records of turns are kept
	Grace     string   // how long the data of a server are kept after the bot has left it
	Learns    bool     // it writes down by itself what is worth remembering
	Reactions bool     // it asks for people's reactions, which is not a privileged intent
	Services  []reader // who is sent what people write
	Disk      Finding  // of Encryption
	Contact   string   // how the operator is reached; empty: not said
}

// reader is a service that is sent something of what people write.
type reader struct{ Host, Gets string }

func (r review) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Answers for Discord's review of privileged intents\n\nDrawn from this configuration. Read them before you send them: what you do beside this program they do not know.\n")
	answer := func(question string, lines ...string) {
		fmt.Fprintf(&b, "\n## %s\n", question)
		for _, line := range lines {
			fmt.Fprintf(&b, "%s\n", line)
		}
	}
	answer("What does the application do?",
		fmt.Sprintf("It is a companion for conversations. %s answers people who address it in a channel, and looks things up on the web to do so, with its sources named.", r.Name))
	answer("Which privileged intents does it use?",
		"Message Content alone. It does not ask for Presence or Server Members.")
	answer("Why does it need Message Content?",
		"- People address it by its name in a sentence, reply to it without a ping, and go on in a thread, without a mention each time.",
		"- An answer has to follow what was said before: the last messages of the channel are part of what it is asked.",
		"- People ask what was said before in their server; it is looked up in messages that they may read themselves.",
		"Slash commands and mentions cannot do that: without the intent earlier messages are empty.")
	answer("Is message content stored, and for how long?", r.stored()...)
	answer("How is it stored?",
		"In a SQLite file on the operator's machine, readable for the program's user alone.", r.Disk.Text)
	answer("Who else is sent message content?", r.sent()...)
	answer("How are data deleted?",
		"- /privacy forget deletes all that is kept of a person, at once, in all servers; /privacy export gives it to them; /privacy optout ends keeping anything.",
		"- A message that is deleted or edited in Discord is deleted or changed here too, with what was learned of it.",
		fmt.Sprintf("- What is of a server goes %s after the bot has left it.", r.Grace),
		"- The operator does the same for somebody who is not on Discord any more: familiar erase USER.")
	answer("Is message content used to train models?",
		"No. It is sent to a model for the one answer, and to nobody who is asked to train on it.",
		"Check that the services above do not train on what they are sent, and say so in your privacy policy.")
	answer("Are people profiled?",
		"No. Nothing is inferred about anybody who has not agreed to it (/memory on); there are no scores, no categories and no list of people.")
	contact := "Say here how you are reached: FAMILIAR_CONTACT is not set."
	if r.Contact != "" {
		contact = r.Contact
	}
	answer("Contact and privacy policy", contact, "The address of your privacy policy belongs here, and into the developer portal.")
	return b.String()
}

func (r review) stored() []string {
	lines := []string{
		fmt.Sprintf("- Messages of channels in which it takes part, and the names of who wrote them: %s.", number(r.Messages, "day")),
		fmt.Sprintf("- Records of its answers (question, sources, answer), so that people can see why it said what it said: %s.", number(r.Records, "day")),
		"- What somebody asked it to remember: until they have it forgotten, or the message that it rests on is deleted.",
	}
	if r.Learns {
		lines = append(lines, fmt.Sprintf("- Single sentences that it notes by itself where it took part, of people who agreed to it alone: %s.", number(r.Memory, "day")))
	} else {
		lines = append(lines, "- It notes nothing by itself: that is switched off.")
	}
	if r.Reactions {
		lines = append(lines, "- Reactions to its answers, as approval or the lack of it; their intents are not privileged.")
	}
	return append(lines, "Attachments are read when somebody asks about them, and not kept.")
}

func (r review) sent() []string {
	if len(r.Services) == 0 {
		return []string{"Nobody: no model and no search service is configured."}
	}
	var lines []string
	for _, s := range r.Services {
		lines = append(lines, fmt.Sprintf("- %s: %s.", s.Host, s.Gets))
	}
	return lines
}
