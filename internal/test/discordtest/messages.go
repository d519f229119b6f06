package discordtest

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

const (
	maxContent = 2000 // UTF-16 units: the stricter of two ways to count that were reported
	ephemeral  = 1 << 6
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
	Components []any    `json:"components"`
	Embeds     []object `json:"embeds"`
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

// check returns what Discord would refuse in a message.
func (m *sent) check(empty bool) (answer, bool) {
	if m.Content != nil && len(utf16.Encode([]rune(*m.Content))) > maxContent {
		return malformed("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length."), false
	}
	if empty && (m.Content == nil || strings.TrimSpace(*m.Content) == "") && len(m.Embeds) == 0 {
		return refusal(http.StatusBadRequest, 50006, "Cannot send an empty message"), false
	}
	if no, ok := checkRows(m.Components); !ok {
		return no, false
	}
	if nonce, _ := m.Nonce.(string); len(nonce) > 25 {
		return malformed("nonce", "NONCE_TYPE_TOO_LONG", "Must be 25 or fewer in length."), false
	}
	return answer{}, true
}

func (s *Server) create(c *call) answer {
	var in sent
	if !c.decode(&in) {
		return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	s.mu.Lock()
	ch, no, ok := s.writable(c)
	if ok {
		no, ok = in.check(true)
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
	s.reopen(ch)
	m := s.add(ch, s.users[botID], *in.Content)
	m.Nonce, m.ReplyTo, m.components = nonce, replyTo, in.Components
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
	default:
		no, ok = in.check(in.Content != nil)
	}
	if !ok {
		s.mu.Unlock()
		return no
	}
	return s.amend(m, &in)
}

// amend changes a message and announces the change. The caller must hold mu; amend unlocks it.
func (s *Server) amend(m *message, in *sent) answer {
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

// checkRows returns what Discord would refuse in rows of buttons. A message has at most five rows of one to five buttons, each with an id of
// its own and a label.
func checkRows(rows []any) (answer, bool) {
	if len(rows) > 5 {
		return malformed("components", "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length."), false
	}
	ids := map[string]bool{}
	for _, row := range rows {
		all := buttons([]any{row})
		if len(all) < 1 || len(all) > 5 {
			return malformed("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length."), false
		}
		for _, b := range all {
			if len(b.ID) < 1 || len(b.ID) > 100 || len(b.Label) < 1 || len(b.Label) > 80 || ids[b.ID] {
				return malformed("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated, nor an id or a label be missing or too long"), false
			}
			ids[b.ID] = true
		}
	}
	return answer{}, true
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

// componentsV2 is the flag of a message whose text is in components. It cannot be removed later.
// https://discord.com/developers/docs/components/reference
const componentsV2 = 1 << 15

// Types of components.
const (
	actionRow   = 1
	textDisplay = 10
	fileShown   = 13
	separator   = 14
	container   = 17
)

// Limits of a message of components.
const (
	maxComponents = 40   // including nested ones
	maxShown      = 4000 // UTF-16 units of all text together
)

// layout is the content of a message's components.
type layout struct {
	texts   []string
	rows    []any
	files   []string // by the names that the components use
	count   int
	unknown bool
}

// lay walks through components in the order in which they are shown.
func (l *layout) lay(components []any, inner bool) {
	for _, c := range components {
		part, _ := c.(object)
		kind, _ := part["type"].(float64)
		nested, _ := part["components"].([]any)
		l.count++
		switch int(kind) {
		case actionRow:
			l.rows, l.count = append(l.rows, c), l.count+len(nested)
		case textDisplay:
			text, _ := part["content"].(string)
			l.texts, l.unknown = append(l.texts, text), l.unknown || text == ""
		case fileShown:
			file, _ := part["file"].(object)
			url, _ := file["url"].(string)
			name, ok := strings.CutPrefix(url, "attachment://")
			l.files, l.unknown = append(l.files, name), l.unknown || !ok
		case separator:
		case container:
			l.unknown = l.unknown || inner || len(nested) == 0
			l.lay(nested, true)
		default:
			l.unknown = true
		}
	}
}

// checkShown returns the content of a message of components, or what Discord would refuse in it.
func (m *sent) checkShown(files map[string]string) (layout, answer, bool) {
	var l layout
	l.lay(m.Components, false)
	switch {
	case m.Content != nil || len(m.Embeds) > 0:
		return l, malformed("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"), false
	case l.count == 0:
		return l, refusal(http.StatusBadRequest, 50006, "Cannot send an empty message"), false
	case l.count > maxComponents || l.unknown:
		return l, malformed("components", "BASE_TYPE_BAD_LENGTH", "Must be 40 or fewer in total, each of a known kind and with what it needs."), false
	case len(utf16.Encode([]rune(strings.Join(l.texts, "")))) > maxShown:
		return l, malformed("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", "The total size of displayable text exceeds 4000"), false
	}
	for _, name := range l.files {
		if _, there := files[name]; !there {
			return l, malformed("components", "COMPONENT_FILE_NOT_FOUND", "The file was not sent."), false
		}
	}
	no, ok := checkRows(l.rows)
	return l, no, ok
}
