package discordtest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sent is a message as a bot sends it.
type sent struct {
	Content *string `json:"content"`
	Nonce   any     `json:"nonce"` // text or a number
	Enforce bool    `json:"enforce_nonce"`
	Flags   *int    `json:"flags"`
	Allowed *struct {
		Parse []string `json:"parse"`
		Users []string `json:"users"`
		Roles []string `json:"roles"`
		Reply bool     `json:"replied_user"`
	} `json:"allowed_mentions"`
	Reference *struct {
		MessageID string `json:"message_id"`
		Fail      *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Components []any       `json:"components"`
	Embeds     []object    `json:"embeds"`
	Files      *[]sentFile `json:"attachments"`
}

// sentFile is a file of such a message. The id is of a file that the message has, or the number of a new one.
type sentFile struct {
	ID      any     `json:"id"`
	Name    string  `json:"filename"`
	Alt     string  `json:"description"`
	Seconds float64 `json:"duration_secs"`
}

// writable returns the channel of a request, or why the bot may not write there. The caller must hold mu.
func (s *Server) writable(c *call) (*channel, answer, bool) {
	ch := s.channels[c.parts[1]]
	switch {
	case ch == nil:
		return nil, refusal(http.StatusNotFound, 10003, "Unknown Channel"), false
	case s.away(ch):
		return nil, refusal(http.StatusForbidden, 50001, "Missing Access"), false
	case ch.denied:
		return nil, refusal(http.StatusForbidden, 50013, "Missing Permissions"), false
	case ch.locked && !ch.archived:
		return nil, refusal(http.StatusBadRequest, 160005, "Thread is locked"), false
	case ch.archived && (ch.locked || len(c.parts) > 3): // a new message would reopen it
		return nil, refusal(http.StatusBadRequest, 50083, "Thread is archived"), false
	}
	return ch, answer{}, true
}

// blank reports whether a message would show nothing.
func (m *sent) blank() bool {
	return strings.TrimSpace(m.text()) == "" && len(m.Embeds) == 0 && (m.Flags == nil || *m.Flags&isVoice == 0)
}

// text returns what a message says, in its content or in its components.
func (m *sent) text() string {
	if m.Content != nil {
		return *m.Content
	}
	var l layout
	l.lay(m.Components)
	return strings.Join(l.texts, "\n")
}

// nothing is the answer to a message that would show nothing.
var nothing = refusal(http.StatusBadRequest, 50006, "Cannot send an empty message")

func (s *Server) create(c *call) answer {
	var in sent
	if !c.decode(&in) {
		return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	s.mu.Lock()
	ch, no, ok := s.writable(c)
	if ok && in.blank() {
		no, ok = nothing, false
	}
	nonce, _ := in.Nonce.(string)
	if ok && in.Enforce && nonce != "" {
		if before := s.nonces[ch.id+"/"+nonce]; before != nil {
			no, ok = answer{http.StatusOK, s.payload(before, false)}, false
		}
	}
	replyTo := ""
	if ok && in.Reference != nil {
		replyTo = in.Reference.MessageID
		if s.messages[replyTo] == nil {
			if in.Reference.Fail == nil || *in.Reference.Fail {
				no, ok = malformed("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message"), false
			}
			replyTo = ""
		}
	}
	if !ok {
		s.mu.Unlock()
		return no
	}
	if in.Flags != nil && *in.Flags&isVoice != 0 && ch.voiceless {
		s.mu.Unlock()
		return refusal(http.StatusForbidden, 50013, "Missing Permissions")
	}
	s.reopen(ch)
	m := s.add(ch, s.users[botID], in.text())
	m.Nonce, m.ReplyTo, m.components, m.From = nonce, replyTo, in.Components, c.from
	m.Files = c.files.byName()
	if in.Files != nil {
		for i, f := range (*in.Files)[:min(len(*in.Files), len(c.files))] {
			m.files = append(m.files, s.upload(m, File{Name: f.Name, Content: []byte(c.files[i].content), Seconds: f.Seconds}))
		}
	}
	m.Buttons = buttons(in.Components)
	s.apply(m, &in)
	if nonce != "" {
		s.nonces[ch.id+"/"+nonce] = m
	}
	out, tell := s.payload(m, false), s.onReply
	report := m.Message
	s.announce("MESSAGE_CREATE", m)
	if tell != nil {
		tell(report)
	}
	return answer{http.StatusOK, out}
}

// apply sets flags and determines who is pinged. The caller must hold mu.
func (s *Server) apply(m *message, in *sent) {
	if in.Flags != nil {
		m.Flags = *in.Flags&^ephemeral | m.Flags&ephemeral
	}
	m.Pinged = nil
	may := func(kind string) bool { return in.Allowed == nil || slices.Contains(in.Allowed.Parse, kind) }
	for _, u := range m.mentions {
		if may("users") || slices.Contains(in.Allowed.Users, u.id) {
			m.Pinged = append(m.Pinged, u.name)
		}
	}
	if may("everyone") && (strings.Contains(m.Text, "@everyone") || strings.Contains(m.Text, "@here")) {
		m.Pinged = append(m.Pinged, "everyone")
	}
	for _, r := range roleMention.FindAllStringSubmatch(m.Text, -1) {
		if may("roles") || slices.Contains(in.Allowed.Roles, r[1]) {
			m.Pinged = append(m.Pinged, r[1])
		}
	}
	if above := s.messages[m.ReplyTo]; above != nil && (in.Allowed == nil || in.Allowed.Reply) {
		m.Pinged = append(m.Pinged, above.Author)
	}
}

var roleMention = regexp.MustCompile(`<@&(\d+)>`)

func (s *Server) edit(c *call) answer {
	var in sent
	if !c.decode(&in) {
		return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	s.mu.Lock()
	_, no, ok := s.writable(c)
	m := s.messages[c.parts[3]]
	switch {
	case !ok:
	case m == nil || m.channel.id != c.parts[1]:
		no, ok = refusal(http.StatusNotFound, 10008, "Unknown Message"), false
	case !m.Own || m.webhook != "":
		no, ok = refusal(http.StatusForbidden, 50005, "Cannot edit a message authored by another user"), false
	case in.Content != nil && in.blank():
		no, ok = nothing, false
	}
	if !ok {
		s.mu.Unlock()
		return no
	}
	return s.amend(c, m, &in)
}

// amend changes a message and announces the change. The caller must hold mu; amend unlocks it. If the edit lists files, only those stay: new
// ones, and old ones by their ids.
// https://discord.com/developers/docs/resources/message#edit-message
func (s *Server) amend(c *call, m *message, in *sent) answer {
	if len(c.files) > 0 && m.channel.fileless {
		s.mu.Unlock()
		return refusal(http.StatusForbidden, 50013, "Missing Permissions")
	}
	if in.Files != nil {
		kept := slices.DeleteFunc(m.files, func(f *file) bool {
			return !slices.ContainsFunc(*in.Files, func(listed sentFile) bool { return fmt.Sprint(listed.ID) == f.id })
		})
		m.Files, m.files = map[string]string{}, kept
		for _, f := range kept {
			m.Files[f.Name] = string(f.Content)
		}
		for i, f := range c.files[:min(len(*in.Files), len(c.files))] {
			m.Files[f.name] = f.content
			m.files = append(m.files, s.upload(m, File{Name: f.name, Alt: (*in.Files)[i].Alt, Content: []byte(f.content)}))
		}
	}
	if in.Content != nil {
		s.write(m, *in.Content)
	}
	if in.Components != nil {
		m.components, m.Buttons = in.Components, buttons(in.Components)
	}
	s.apply(m, in)
	m.EditedAt = time.Now()
	s.bump()
	out := s.payload(m, false)
	s.announce("MESSAGE_UPDATE", m)
	return answer{http.StatusOK, out}
}

func (s *Server) delete(c *call) answer {
	s.mu.Lock()
	m := s.messages[c.parts[3]]
	if m == nil || m.channel.id != c.parts[1] {
		s.mu.Unlock()
		return refusal(http.StatusNotFound, 10008, "Unknown Message")
	}
	if m.webhook != "" {
		s.mu.Unlock()
		return refusal(http.StatusForbidden, 50013, "Missing Permissions")
	}
	payload := s.remove(m)
	s.mu.Unlock()
	s.gateway.dispatch("MESSAGE_DELETE", payload)
	return answer{status: http.StatusNoContent}
}

func (s *Server) getMessage(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messages[c.parts[3]]
	if m == nil || m.channel.id != c.parts[1] || s.away(m.channel) {
		return refusal(http.StatusNotFound, 10008, "Unknown Message")
	}
	return answer{http.StatusOK, s.payload(m, false)}
}

// listMessages returns the newest messages, or the first ones after a message, newest first. It returns at most 50, or the limit of the
// query.
func (s *Server) listMessages(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[c.parts[1]]
	if ch == nil || s.away(ch) {
		return refusal(http.StatusNotFound, 10003, "Unknown Channel")
	}
	most, err := strconv.Atoi(c.query.Get("limit"))
	if err != nil {
		most = 50
	}
	found := ch.messages
	if before, err := strconv.ParseInt(c.query.Get("before"), 10, 64); err == nil {
		if at := slices.IndexFunc(found, func(m *message) bool { return number(m.ID) >= before }); at >= 0 {
			found = found[:at]
		}
	}
	if after, err := strconv.ParseInt(c.query.Get("after"), 10, 64); err == nil {
		at := slices.IndexFunc(found, func(m *message) bool { return number(m.ID) > after })
		if at < 0 {
			at = len(found)
		}
		found = found[at:min(len(found), at+most)]
	}
	list := []object{}
	for _, m := range slices.Backward(found[max(0, len(found)-most):]) {
		list = append(list, s.payload(m, false))
	}
	return answer{http.StatusOK, list}
}

func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}

func (s *Server) typing(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, no, ok := s.writable(c)
	if !ok {
		return no
	}
	ch.typing = time.Now()
	return answer{status: http.StatusNoContent}
}

// typingLasts is how long Discord shows the typing indicator, unless a message of the bot comes first.
const typingLasts = 10 * time.Second

// Types reports whether people in a channel see that the bot is typing.
func (s *Server) Types(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.find(channel)
	for _, m := range ch.messages {
		if m.Own && m.At.After(ch.typing) {
			return false
		}
	}
	return time.Since(ch.typing) < typingLasts
}

// OnReply sets a function that is called with each new message of the bot, for benchmarks.
func (s *Server) OnReply(f func(Message)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onReply = f
}

// buttons lists the buttons in rows of components.
func buttons(components []any) []Button {
	var found []Button
	for _, c := range components {
		row, _ := c.(object)
		inner, _ := row["components"].([]any)
		for _, b := range inner {
			button, _ := b.(object)
			id, _ := button["custom_id"].(string)
			label, _ := button["label"].(string)
			disabled, _ := button["disabled"].(bool)
			found = append(found, Button{id, label, disabled})
		}
	}
	return found
}

// layout is the content of a message's components.
type layout struct {
	texts []string
	rows  []any
}

// lay walks through components in the order in which they are shown.
func (l *layout) lay(components []any) {
	for _, c := range components {
		part, _ := c.(object)
		switch kind, _ := part["type"].(float64); int(kind) {
		case actionRow:
			l.rows = append(l.rows, c)
		case textDisplay:
			text, _ := part["content"].(string)
			l.texts = append(l.texts, text)
		case container:
			nested, _ := part["components"].([]any)
			l.lay(nested)
		}
	}
}
