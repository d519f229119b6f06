package discordtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Interaction is a command given or a button pressed, and what came of it.
type Interaction struct {
	ID, Token string

	server  *Server
	channel *channel
	begun   time.Time
	acked   time.Time // guarded by the server's mu, as is all that follows
	kind    int       // of the callback: 4 message, 5 deferred message, 6 deferred update
	answer  *message  // nil before there is one
	edited  int       // how often the answer was written
}

// Interact returns a slash command as a person who may, or may not, manage the server. In a channel "@ada" it is
// given in direct messages.
func (s *Server) Interact(channel, author, command string, options map[string]string, manages bool) *Interaction {
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		list = append(list, object{"name": name, "type": 3, "value": options[name]})
	}
	data := object{"id": "100000000000000010", "name": command, "type": 1, "options": list}
	may := Member
	if manages {
		may = ManageServer
	}
	return s.interact(channel, author, 2, data, nil, may)
}

// Rights are a person's permissions in the channel, as bits.
type Rights int64

// What people may do who may write.
const (
	Reader         Rights = 1<<10 | 1<<16 // sees a channel, and what was written in it before
	Member         Rights = 1 << 11
	ManageMessages        = Member | 1<<13
	ManageServer          = Member | 1<<5
)

// Press presses a button under a message, which may be an interaction's answer. The button need not be there.
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
	i := &Interaction{server: s, channel: c, ID: s.newID(), begun: time.Now(), answer: under}
	i.Token = "interaction-token-" + i.ID
	s.interactions[i.Token] = i
	p := object{
		"id": i.ID, "application_id": appID, "type": kind, "data": data, "channel_id": c.id, "token": i.Token, "version": 1,
		"locale": "en-US", "context": 1,
	}
	if c.guild == "" {
		p["user"] = by.payload()
	} else {
		member := s.member(c.guild, by.id)
		member["user"], member["permissions"] = by.payload(), fmt.Sprint(int64(may))
		p["guild_id"], p["member"], p["context"] = c.guild, member, 0
	}
	if under != nil {
		p["message"] = s.payload(under, false)
	}
	s.mu.Unlock()
	s.gateway.dispatch("INTERACTION_CREATE", p)
	return i
}

// WaitAck waits for the first answer, gives the time it took and whether only the author sees what follows.
func (i *Interaction) WaitAck(timeout time.Duration) (took time.Duration, hidden, ok bool) {
	ok = i.server.until(timeout, func() bool {
		if i.acked.IsZero() {
			return false
		}
		took, hidden = i.acked.Sub(i.begun), i.kind == 6 || i.answer != nil && i.answer.Ephemeral
		return true
	})
	return took, hidden, ok
}

// WaitAnswer waits until the answer has been written n times (1: for the first) and gives it.
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

// open returns the interaction of a token. Its caller holds mu.
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
		Type int  `json:"type"`
		Data sent `json:"data"`
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
	case in.Type != 4 && in.Type != 5 && in.Type != 6 || in.Type == 6 && i.answer == nil:
		return malformed("type", "BASE_TYPE_CHOICES", "Value is not one of the known callback types")
	}
	i.acked, i.kind = time.Now(), in.Type
	defer s.bump()
	if in.Type == 6 {
		return answer{status: http.StatusNoContent}
	}
	m := &message{channel: i.channel, by: s.users[botID]}
	m.Message = Message{ID: s.newID(), Channel: i.channel.id, Author: botName, Own: true, At: time.Now()}
	if in.Data.Flags != nil && *in.Data.Flags&ephemeral != 0 {
		m.Flags, m.Ephemeral = ephemeral, true
	}
	s.messages[m.ID] = m // but in no channel's list: it is the author's alone
	i.answer = m
	if in.Type == 4 {
		return s.rewrite(i, &in.Data, nil)
	}
	return answer{status: http.StatusNoContent}
}

// rewrite writes an interaction's answer. Its caller holds mu.
func (s *Server) rewrite(i *Interaction, in *sent, files map[string]string) answer {
	if no, ok := in.check(in.Content != nil && len(files) == 0); !ok {
		return no
	}
	m := i.answer
	if in.Content != nil {
		s.write(m, *in.Content)
	}
	if in.Components != nil {
		m.components, m.Buttons = in.Components, buttons(in.Components)
	}
	m.Files = files
	s.apply(m, in)
	i.edited++
	s.bump()
	return answer{http.StatusOK, s.payload(m, false)}
}

// withInteraction answers a request about an interaction's answer with what do returns. do is called under mu.
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
		return s.rewrite(i, in, c.files)
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

// followUp edits the deferred answer if it is still empty, as Discord does, and else writes a message of its own.
func (s *Server) followUp(c *call) answer {
	return s.withInteraction(c, func(i *Interaction, in *sent) answer {
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
		return s.rewrite(i, in, c.files)
	})
}

// Registered reports whether a command of that name is registered.
func (s *Server) Registered(command string) bool {
	commands, _ := s.Commands()
	return strings.Contains(commands, `"name":"`+command+`"`)
}
