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
	"unicode/utf8"
)

// registered is a command as a bot registers it, with the fields that are checked.
// https://discord.com/developers/docs/interactions/application-commands
type registered struct {
	Type         int                `json:"type"`
	Name         string             `json:"name"`
	Names        map[string]string  `json:"name_localizations"`
	Description  string             `json:"description"`
	Descriptions map[string]string  `json:"description_localizations"`
	Options      []registeredOption `json:"options"`
	Permissions  *string            `json:"default_member_permissions"`
	Installs     []int              `json:"integration_types"`
	Contexts     []int              `json:"contexts"`
}

type registeredOption struct {
	Type         int               `json:"type"`
	Name         string            `json:"name"`
	Names        map[string]string `json:"name_localizations"`
	Description  string            `json:"description"`
	Descriptions map[string]string `json:"description_localizations"`
	Required     bool              `json:"required"`
	Autocomplete bool              `json:"autocomplete"`
	Choices      []struct {
		Name  string            `json:"name"`
		Names map[string]string `json:"name_localizations"`
		Value string            `json:"value"`
	} `json:"choices"`
}

func (s *Server) putCommands(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var commands []registered
	if c.parts[1] != appID || !c.decode(&commands) {
		return refusal(http.StatusBadRequest, 50035, "Invalid Form Body")
	}
	if wrong := checkCommands(commands); wrong != "" {
		return malformed("commands", "APPLICATION_COMMAND_INVALID", wrong)
	}
	s.commands = c.body
	s.commandPuts++
	s.bump()
	return answer{http.StatusOK, json.RawMessage(c.body)}
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

// Offered lists the names of the commands that a person is offered in a channel, in the language of the person's client, in the order of
// registration.
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

var (
	menuName  = regexp.MustCompile(`^.{1,32}$`)
	inputName = regexp.MustCompile(`^[-_'\pL\pN\p{Devanagari}\p{Thai}]{1,32}$`)
)

// checkCommands returns what Discord would refuse in a list of commands, or "".
func checkCommands(all []registered) string {
	count := map[int]int{}
	seen := map[string]bool{}
	for _, c := range all {
		if count[c.Type]++; seen[fmt.Sprint(c.Type, c.Name)] {
			return c.Name + ": the name is taken"
		}
		seen[fmt.Sprint(c.Type, c.Name)] = true
		if wrong := c.check(); wrong != "" {
			return c.Name + ": " + wrong
		}
	}
	if count[1] > 100 || count[2] > 15 || count[3] > 15 {
		return "there are too many"
	}
	return ""
}

func (c registered) check() string {
	names, size := inputName, utf8.RuneCountInString(c.Name+c.Description)
	switch {
	case c.Type < 1 || c.Type > 3:
		return "there is no such type"
	case c.Type != 1 && (c.Description != "" || len(c.Descriptions)+len(c.Options) > 0):
		return "an entry of a menu has no description and no options"
	case len(c.Options) > 25:
		return "there are more than 25 options"
	case len(c.Installs) == 0 || slices.ContainsFunc(c.Installs, func(n int) bool { return n < 0 || n > 1 }):
		return "there is no such installation"
	case len(c.Contexts) == 0 || slices.ContainsFunc(c.Contexts, func(n int) bool { return n < 0 || n > 2 }):
		return "there is no such context"
	}
	if c.Type != 1 {
		names = menuName
	}
	if wrong := checkNamed(names, c.Name, c.Names); wrong != "" {
		return wrong
	}
	if wrong := checkTexts(c.Description, c.Descriptions); c.Type == 1 && wrong != "" {
		return wrong
	}
	optional := false
	seen := map[string]bool{}
	for _, o := range c.Options {
		size += utf8.RuneCountInString(o.Name + o.Description)
		for _, choice := range o.Choices {
			size += utf8.RuneCountInString(choice.Name + choice.Value)
		}
		if o.Required && optional || seen[o.Name] {
			return o.Name + ": required options come first, and each once"
		}
		optional, seen[o.Name] = optional || !o.Required, true
		if wrong := o.check(); wrong != "" {
			return o.Name + ": " + wrong
		}
	}
	if size > 8000 {
		return "it is longer than 8,000 characters in all"
	}
	return ""
}

func (o registeredOption) check() string {
	if o.Type == 7 && (len(o.Choices) > 0 || o.Autocomplete) {
		return "a channel has no choices"
	}
	if o.Type != 3 && o.Type != 7 || len(o.Choices) > 25 || o.Autocomplete && len(o.Choices) > 0 {
		return "it is no text, or has more than 25 choices, or choices and suggestions"
	}
	if wrong := checkNamed(inputName, o.Name, o.Names); wrong != "" {
		return wrong
	}
	for _, c := range o.Choices {
		if wrong := checkTexts(c.Name, c.Names); wrong != "" || c.Value == "" || utf8.RuneCountInString(c.Value) > 100 {
			return c.Name + ": " + wrong
		}
	}
	return checkTexts(o.Description, o.Descriptions)
}

// checkNamed checks a name in all languages. A name that people type has no capital letters.
func checkNamed(pattern *regexp.Regexp, name string, in map[string]string) string {
	for locale, each := range in {
		if !strings.Contains(locales, " "+locale+" ") {
			return "there is no locale " + locale
		}
		if wrong := checkNamed(pattern, each, nil); wrong != "" {
			return wrong
		}
	}
	if !pattern.MatchString(name) || pattern == inputName && name != strings.ToLower(name) {
		return fmt.Sprintf("%q is no name", name)
	}
	return ""
}

// checkTexts checks a description or a choice in all languages.
func checkTexts(text string, in map[string]string) string {
	for locale, each := range in {
		if !strings.Contains(locales, " "+locale+" ") {
			return "there is no locale " + locale
		}
		if wrong := checkTexts(each, nil); wrong != "" {
			return wrong
		}
	}
	if n := utf8.RuneCountInString(text); n < 1 || n > 100 {
		return fmt.Sprintf("%q must have 1 to 100 characters", text)
	}
	return ""
}
