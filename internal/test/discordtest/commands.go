package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// registered is what a person is offered of a command.
type registered struct {
	Type        int               `json:"type"`
	Name        string            `json:"name"`
	Names       map[string]string `json:"name_localizations"`
	Permissions *string           `json:"default_member_permissions"`
	Installs    []int             `json:"integration_types"`
	Contexts    []int             `json:"contexts"`
}

func (s *Server) putCommands(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.parts[1] != appID {
		return refusal(http.StatusNotFound, 10002, "Unknown Application")
	}
	if s.unknownProperty != "" && strings.Contains(string(c.body), s.unknownProperty) {
		return malformed(s.unknownProperty, "UNKNOWN_PROPERTY", "This property is not known.")
	}
	s.commands = c.body
	s.commandPuts++
	s.bump()
	return answer{http.StatusOK, json.RawMessage(c.body)}
}

// postCommand adds one command.
// https://discord.com/developers/docs/interactions/application-commands#create-global-application-command
func (s *Server) postCommand(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unknownProperty != "" && strings.Contains(string(c.body), s.unknownProperty) {
		return malformed(s.unknownProperty, "UNKNOWN_PROPERTY", "This property is not known.")
	}
	var all []json.RawMessage
	_ = json.Unmarshal(orEmpty(s.commands), &all)
	s.commands, _ = json.Marshal(append(all, c.body))
	s.commandPuts++
	s.bump()
	return answer{http.StatusCreated, json.RawMessage(c.body)}
}

// RefuseProperty makes the server refuse every request about commands whose text contains a word. A compatible server does so with a
// property that it does not know.
func (s *Server) RefuseProperty(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknownProperty = word
}

func (s *Server) getCommands(*call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return answer{http.StatusOK, json.RawMessage(orEmpty(s.commands))}
}

func orEmpty(b []byte) []byte {
	if len(b) == 0 {
		return []byte("[]")
	}
	return b
}

// Commands returns the registered commands as JSON, and how often they were registered.
func (s *Server) Commands() (commands string, puts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(orEmpty(s.commands)), s.commandPuts
}

// WaitCommands waits until the commands have been registered n times.
func (s *Server) WaitCommands(n int, timeout time.Duration) bool {
	return s.until(timeout, func() bool { return s.commandPuts >= n })
}

// Offered lists the names of the commands that a person is offered in a channel. They are in the language of the person's client and in the
// order of registration.
func (s *Server) Offered(channelName, author string, may Rights) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []registered
	_ = json.Unmarshal(orEmpty(s.commands), &all)
	channel, locale := s.find(channelName), s.person(author).locale
	install, context := 0, 0
	switch {
	case s.away(channel):
		install = 1
	case channel.guild == "":
		context = 1
	}
	var names []string
	for _, c := range all {
		if !slices.Contains(c.Installs, install) || !slices.Contains(c.Contexts, context) {
			continue
		}
		if c.Permissions != nil && context == 0 {
			if bits, _ := strconv.ParseInt(*c.Permissions, 10, 64); int64(may)&bits != bits {
				continue
			}
		}
		name := c.Name
		if local := c.Names[locale]; local != "" {
			name = local
		}
		if c.Type == 1 {
			name = "/" + name
		}
		names = append(names, name)
	}
	return names
}

// Discord's locales.
// https://discord.com/developers/docs/reference#locales
const locales = " id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th zh-CN ja zh-TW ko "

// Types of commands.
const (
	chatInput = 1
	userMenu  = 2
	textMenu  = 3
)

var inputName = regexp.MustCompile(`^[-_'\pL\pN\p{Devanagari}\p{Thai}]{1,32}$`)

// commands judges the registered commands.
// https://docs.discord.com/developers/interactions/application-commands
func (p part) commands() {
	count, seen := map[int]int{}, map[string]bool{}
	for _, c := range p.list(0, 130) {
		kind := c.key("type").number(chatInput, textMenu, false)
		name, _ := c.key("name").value.(string)
		c.key("name").once(seen, fmt.Sprint(kind, name), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		if count[kind]++; count[chatInput] > 100 || count[userMenu] > 15 || count[textMenu] > 15 {
			c.wrong("APPLICATION_COMMANDS_MAX", "Maximum number of application commands reached")
		}
		c.command(kind == chatInput)
	}
}

func (p part) command(typed bool) {
	p.named(typed)
	for _, n := range p.key("integration_types").list(1, 2) {
		n.number(0, 1, false)
	}
	for _, n := range p.key("contexts").list(1, 3) {
		n.number(0, 2, false)
	}
	if !typed {
		p.key("description").text(0, 0)
		p.key("options").list(0, 0)
		return
	}
	p.localized("description", 100)
	optional, seen := false, map[string]bool{}
	for _, o := range p.key("options").list(0, 25) {
		name, _ := o.key("name").value.(string)
		o.key("name").once(seen, name, "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists")
		required, _ := o.key("required").value.(bool)
		if required && optional {
			o.wrong("APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		optional = optional || !required
		o.option()
	}
	if p.size() > 8000 {
		p.wrong("APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")
	}
}

// size counts the names, descriptions and values of a command, its options and their choices. Of localized texts the longest counts.
func (p part) size() (n int) {
	for _, name := range []string{"name", "description", "value"} {
		text, _ := p.key(name).value.(string)
		most := units(text)
		in, _ := p.key(name + "_localizations").value.(object)
		for _, each := range in {
			text, _ := each.(string)
			most = max(most, units(text))
		}
		n += most
	}
	for _, name := range []string{"options", "choices"} {
		list, _ := p.key(name).value.([]any)
		for _, each := range list {
			n += part{value: each}.size()
		}
	}
	return n
}

func (p part) option() {
	const text, channel, attachment = 3, 7, 11
	kind := p.key("type").number(1, 11, false)
	if kind != text && kind != channel && kind != attachment {
		p.unknown(text, channel, attachment)
	}
	p.named(true)
	p.localized("description", 100)
	most := p.key("max_length").number(1, 6000, true)
	if least := p.key("min_length").number(0, 6000, true); most > 0 && least > most {
		p.key("min_length").wrong("NUMBER_TYPE_MAX", "Must be at most max_length.")
	}
	suggests, _ := p.key("autocomplete").value.(bool)
	choices := p.key("choices").list(0, 25)
	if suggests && len(choices) > 0 || kind != text && (suggests || len(choices) > 0) {
		p.wrong("APPLICATION_COMMAND_OPTIONS_CHOICES_INVALID", "An option has choices or suggestions, and a channel or a file none")
	}
	for _, c := range choices {
		c.choice()
	}
}

func (p part) choice() {
	p.localized("name", 100)
	p.key("value").text(1, 100)
}

// named judges a name in all languages. A name that people type has no capital letters and no spaces.
func (p part) named(typed bool) {
	for _, name := range p.localized("name", 32) {
		if text, _ := name.value.(string); typed && (!inputName.MatchString(text) || text != strings.ToLower(text)) {
			name.wrong("APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
		}
	}
}

// localized judges a text in all languages and returns its forms.
func (p part) localized(name string, most int) []part {
	p.key(name).text(1, most)
	all := []part{p.key(name)}
	in, _ := p.key(name + "_localizations").value.(object)
	for locale := range in {
		each := p.key(name + "_localizations").key(locale)
		if each.text(1, most); !strings.Contains(locales, " "+locale+" ") {
			each.wrong("LOCALE_INVALID", "Locale %s is not supported", locale)
		}
		all = append(all, each)
	}
	return all
}
