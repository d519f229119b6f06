package discordtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Interaction is a command that was given or a button that was pressed, with its result.
type Interaction struct {
	ID, Token string

	server   *Server
	channel  *channel
	asks     int  // 2 a command, 3 a button, 4 suggestions
	brought  bool // a person brought the app along to a place that has not installed it
	begun    time.Time
	payload  object    // as the gateway sent it
	acked    time.Time // guarded by the server's mu, like all fields below
	kind     int       // of the callback: 4 message, 5 deferred message, 6 deferred update, 7 update, 8 suggestions
	answer   *message  // nil before there is one
	edited   int       // how often the answer was written
	followed int       // follow-ups that were made
	choices  []Choice
	form     *Form // the form that was opened; nil: none
}

// Form is a form that a command has opened.
type Form struct {
	ID, Title, Label, Field, Text string
	Most                          int
}

// Order describes a command.
type Order struct {
	Channel, Author, Command string
	Options                  map[string]string // "#general" is the channel
	Focused                  string            // the option that is being typed, for which suggestions are asked
	File                     *File             // of the option "import"; nil: none
	Target                   string            // id of the message whose menu was used
	Unresolved               bool              // the message itself does not come along
	Person                   string            // name of the person whose menu was used
	May                      Rights
}

// Choice is a suggested value.
type Choice struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Interact gives a slash command as a person who may, or may not, manage the server. The channel "@ada" means direct messages.
func (s *Server) Interact(channel, author, command string, options map[string]string, manages bool) *Interaction {
	may := Member
	if manages {
		may = ManageServer
	}
	return s.Order(Order{Channel: channel, Author: author, Command: command, Options: options, May: may})
}

// Order gives a command.
func (s *Server) Order(o Order) *Interaction {
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(o.Options)) {
		option := object{"name": name, "type": 3, "value": o.Options[name]}
		if channel, is := strings.CutPrefix(o.Options[name], "#"); is {
			option["type"], option["value"] = 7, s.ID(channel)
		}
		if name == o.Focused {
			option["focused"] = true
		}
		list = append(list, option)
	}
	data := object{"id": "100000000000000010", "name": o.Command, "type": 1, "options": list}
	if o.File != nil {
		s.mu.Lock()
		f := s.upload(&message{channel: s.find(o.Channel)}, *o.File)
		data["resolved"] = object{"attachments": object{f.id: s.filePayload(f)}}
		s.mu.Unlock()
		data["options"] = append(list, object{"name": "import", "type": 11, "value": f.id})
	}
	if o.Target != "" {
		s.mu.Lock()
		target := s.payload(s.must(o.Target), false)
		s.mu.Unlock()
		data["type"], data["target_id"], data["resolved"] = textMenu, o.Target, object{"messages": object{o.Target: target}}
		delete(data, "options")
	}
	if o.Unresolved {
		delete(data, "resolved")
	}
	if o.Person != "" {
		s.mu.Lock()
		whom := s.person(o.Person).payload()
		s.mu.Unlock()
		data["type"], data["target_id"], data["resolved"] = userMenu, whom["id"], object{"users": object{whom["id"].(string): whom}}
		delete(data, "options")
	}
	kind := 2
	if o.Focused != "" {
		kind = 4
	}
	return s.interact(o.Channel, o.Author, kind, data, nil, o.May)
}

// Reads sets the language of a person's client, such as "pt-BR". The default is "en-US".
func (s *Server) Reads(author, locale string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.person(author).locale = locale
}

// Rights are a person's permissions in the channel, as bits.
type Rights int64

// Common permissions of people who may write.
const (
	Reader         Rights = 1<<10 | 1<<16 // sees a channel and its history
	Member         Rights = 1 << 11
	InThreads      Rights = 1 << 38
	ManageMessages        = Member | 1<<13
	ManageServer          = Member | 1<<5
)

// Press presses a button under a message, which may be an interaction's answer. The button need not exist.
func (s *Server) Press(author string, under Message, button string, may Rights) *Interaction {
	s.mu.Lock()
	m := s.messages[under.ID]
	s.mu.Unlock()
	if m == nil {
		panic(fmt.Sprintf("discordtest: no message %s", under.ID))
	}
	return s.interact(under.Channel, author, 3, object{"custom_id": button, "component_type": 2}, m, may)
}

func (s *Server) interact(channelName, author string, kind int, data object, under *message, may Rights) *Interaction {
	s.mu.Lock()
	c, by := s.find(channelName), s.person(author)
	i := &Interaction{server: s, channel: c, asks: kind, brought: s.away(c), ID: s.newID(), begun: time.Now(), answer: under}
	i.Token = "interaction-token-" + i.ID
	s.interactions[i.Token] = i
	p := object{
		"id": i.ID, "application_id": appID, "type": kind, "data": data, "channel_id": c.id, "token": i.Token, "version": 1,
		"locale": cmp.Or(by.locale, "en-US"), "context": 1, "authorizing_integration_owners": object{"0": cmp.Or(c.guild, "0")},
	}
	if i.brought {
		p["authorizing_integration_owners"] = object{"1": by.id}
	}
	if c.guild == "" {
		p["user"] = by.payload()
	} else {
		p["guild_locale"] = "en-US"
		member := s.member(c.guild, by.id)
		member["user"], member["permissions"] = by.payload(), fmt.Sprint(int64(may))
		p["guild_id"], p["member"], p["context"] = c.guild, member, 0
	}
	if under != nil {
		p["message"] = s.payload(under, false)
	}
	i.payload = p
	s.mu.Unlock()
	s.gateway.dispatch("INTERACTION_CREATE", p)
	return i
}

// Again sends the interaction once more, as a RESUME may.
func (i *Interaction) Again() { i.server.gateway.dispatch("INTERACTION_CREATE", i.payload) }

// WaitAck waits for the first answer. It returns the time until then, and whether only the author sees what follows.
func (i *Interaction) WaitAck(timeout time.Duration) (took time.Duration, hidden, ok bool) {
	ok = i.server.until(timeout, func() bool {
		if i.acked.IsZero() {
			return false
		}
		took, hidden = i.acked.Sub(i.begun), i.kind == 6 || i.kind == 7 || i.answer != nil && i.answer.Ephemeral
		return true
	})
	return took, hidden, ok
}

// WaitAnswer waits until the answer has been written n times (1: for the first time) and returns it.
func (i *Interaction) WaitAnswer(n int, timeout time.Duration) (Message, bool) {
	var found Message
	ok := i.server.until(timeout, func() bool {
		if i.edited >= n {
			found = i.answer.Message
		}
		return i.edited >= n
	})
	return found, ok
}

// WaitChoices waits for suggestions and returns them.
func (i *Interaction) WaitChoices(timeout time.Duration) (choices []Choice, ok bool) {
	ok = i.server.until(timeout, func() bool {
		choices = i.choices
		return i.kind == 8
	})
	return choices, ok
}

// open returns the interaction with a token. The caller must hold mu.
func (s *Server) open(token string) (*Interaction, answer, bool) {
	i := s.interactions[token]
	switch {
	case i == nil:
		return nil, refusal(http.StatusNotFound, 10015, "Unknown Webhook"), false
	case time.Since(i.begun) > 15*time.Minute:
		return nil, refusal(http.StatusUnauthorized, 50027, "Invalid Webhook Token"), false
	}
	return i, answer{}, true
}

func (s *Server) callback(c *call) answer {
	var in struct {
		Type int `json:"type"`
		Data struct {
			sent
			Choices []Choice `json:"choices"`
			formData
		} `json:"data"`
	}
	if !c.decode(&in) {
		return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.interactions[c.parts[2]]
	switch {
	case i == nil || i.ID != c.parts[1] || time.Since(i.begun) > 3*time.Second:
		return refusal(http.StatusNotFound, 10062, "Unknown interaction")
	case !i.acked.IsZero():
		return refusal(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	case in.Type == 9 && (i.asks == 2 || i.asks == 3):
		return s.opened(i, in.Data.formData, in.Data.sent.Components)
	case !slices.Contains([]int{4, 5, 6, 7, 8}, in.Type) || (in.Type == 6 || in.Type == 7) && i.answer == nil || (in.Type == 8) != (i.asks == 4):
		return malformed("type", "BASE_TYPE_CHOICES", "Value is not one of the known callback types")
	}
	i.acked, i.kind = time.Now(), in.Type
	defer s.bump()
	if in.Type == 6 {
		return answer{status: http.StatusNoContent}
	}
	if in.Type == 7 {
		return s.rewrite(i, &in.Data.sent, nil)
	}
	if in.Type == 8 {
		i.choices = in.Data.Choices
		return answer{status: http.StatusNoContent}
	}
	m := &message{channel: i.channel, by: s.users[botID]}
	m.Message = Message{ID: s.newID(), Channel: i.channel.id, Author: botName, Own: true, At: time.Now()}
	if in.Data.Flags != nil && *in.Data.Flags&ephemeral != 0 {
		m.Flags, m.Ephemeral = ephemeral, true
	}
	s.messages[m.ID] = m // in no channel's list, since only the author sees it
	i.answer = m
	if in.Type == 4 {
		return s.rewrite(i, &in.Data.sent, nil)
	}
	return answer{status: http.StatusNoContent}
}

// rewrite changes an interaction's answer. The caller must hold mu.
func (s *Server) rewrite(i *Interaction, in *sent, files map[string]string) answer {
	m := i.answer
	if in.Flags != nil && *in.Flags&componentsV2 != 0 {
		var l layout
		if l.lay(in.Components); len(in.Components) == 0 {
			return nothing
		}
		s.write(m, strings.Join(l.texts, "\n"))
		m.Buttons = buttons(l.rows)
	} else if in.Content != nil && len(files) == 0 && in.blank() {
		return nothing
	} else if m.Flags&componentsV2 != 0 {
		return malformed("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG", "The flag cannot be removed.")
	} else if in.Components != nil {
		m.Buttons = buttons(in.Components)
	}
	if in.Content != nil {
		s.write(m, *in.Content)
	}
	if in.Components != nil {
		m.components = in.Components
	}
	m.Files = files
	s.apply(m, in)
	i.edited++
	s.bump()
	return answer{http.StatusOK, s.payload(m, false)}
}

// withInteraction answers a request about an interaction's answer with the result of do, which is called under mu.
func (s *Server) withInteraction(c *call, do func(*Interaction, *sent) answer) answer {
	var in sent
	if !c.decode(&in) {
		return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, no, ok := s.open(c.parts[2])
	if !ok {
		return no
	}
	return do(i, &in)
}

func (s *Server) editOriginal(c *call) answer {
	return s.withInteraction(c, func(i *Interaction, in *sent) answer {
		if i.answer == nil || i.acked.IsZero() {
			return refusal(http.StatusNotFound, 10008, "Unknown Message")
		}
		return s.rewrite(i, in, c.files.byName())
	})
}

func (s *Server) getOriginal(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, no, ok := s.open(c.parts[2])
	if !ok {
		return no
	}
	if i.answer == nil {
		return refusal(http.StatusNotFound, 10008, "Unknown Message")
	}
	return answer{http.StatusOK, s.payload(i.answer, false)}
}

// followUp edits the deferred answer if it is still empty, as Discord does. Otherwise it writes a new message.
func (s *Server) followUp(c *call) answer {
	return s.withInteraction(c, func(i *Interaction, in *sent) answer {
		if i.followed++; i.brought && i.followed > 5 {
			return refusal(http.StatusBadRequest, 40094, "This interaction has reached the maximum number of follow up messages")
		}
		if i.answer != nil && i.edited > 0 {
			before := i.answer
			i.answer = &message{channel: i.channel, by: s.users[botID]}
			i.answer.Message = Message{ID: s.newID(), Channel: i.channel.id, Author: botName, Own: true, At: time.Now(),
				Ephemeral: before.Ephemeral, Flags: before.Flags & ephemeral}
			s.messages[i.answer.ID] = i.answer
		}
		if i.answer == nil {
			return refusal(http.StatusNotFound, 10015, "Unknown Webhook")
		}
		return s.rewrite(i, in, c.files.byName())
	})
}

// formData is a form's data, without its components.
type formData struct {
	CustomID string `json:"custom_id"`
	Title    string `json:"title"`
}

// opened opens a form. Its first field is the one that people fill in. The caller must hold mu.
// https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-response-object-modal
func (s *Server) opened(i *Interaction, data formData, components []any) answer {
	form := Form{ID: data.CustomID, Title: data.Title}
	label, _ := components[0].(object)
	field, _ := label["component"].(object)
	form.Label, _ = label["label"].(string)
	form.Field, _ = field["custom_id"].(string)
	form.Text, _ = field["value"].(string)
	most, _ := field["max_length"].(float64)
	form.Most = int(most)
	i.acked, i.kind, i.form = time.Now(), 9, &form
	s.bump()
	return answer{status: http.StatusNoContent}
}

// WaitForm waits for the form that a command opens.
func (i *Interaction) WaitForm(timeout time.Duration) (form Form, ok bool) {
	ok = i.server.until(timeout, func() bool {
		if i.form != nil {
			form = *i.form
		}
		return i.form != nil
	})
	return form, ok
}

// Fill sends a form with a text in its field.
func (s *Server) Fill(channel, author string, form Form, text string, may Rights) *Interaction {
	data := object{"custom_id": form.ID, "components": []object{{"type": 18, "id": 1, "component": object{"type": 4, "id": 2, "custom_id": form.Field, "value": text}}}}
	return s.interact(channel, author, 5, data, nil, may)
}
