package discordtest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// judgement collects what Discord refuses in one request, as the tree of error 50035.
// https://docs.discord.com/developers/reference#error-messages
type judgement struct{ tree object }

// part is a value in a request, with the keys that lead to it.
type part struct {
	of    *judgement
	path  []string
	value any
}

// rules say how the body of a request is judged, by route. A body that no route names is refused: its rules are to be added.
var rules = []struct {
	route string
	judge func(part, *call)
}{
	{"POST channels/*/messages", func(p part, c *call) { p.message(c, true, suppressEmbeds|silent|componentsV2|isVoice) }},
	{"PATCH channels/*/messages/*", func(p part, c *call) { p.message(c, false, suppressEmbeds|componentsV2) }},
	{"POST channels/*/messages/*/threads", judgeThread},
	{"POST channels/*/webhooks", func(p part, _ *call) { p.key("name").webhookName() }},
	{"POST webhooks/*/*", judgeHookPost},
	{"PATCH webhooks/*/*/messages/*", func(p part, c *call) { p.message(c, false, suppressEmbeds|componentsV2) }},
	{"POST interactions/*/*/callback", judgeCallback},
	{"PUT applications/*/commands", func(p part, _ *call) { p.commands() }},
	{"POST applications/*/commands", func(p part, _ *call) { p.command(p.key("type").number(chatInput, textMenu, false) == chatInput) }},
	{"POST users/@me/channels", func(p part, _ *call) { p.key("recipient_id").snowflake() }},
	{"PATCH channels/*", judgeChannel},
	{"PATCH guilds/*/members/@me", judgeProfile},
}

// judged returns what Discord refuses in the form of a request.
func (c *call) judged() (answer, bool) {
	if no, ok := c.files.judged(); !ok {
		return no, false
	}
	for _, r := range rules {
		if !c.matches(r.route) {
			continue
		}
		var body any
		if !c.decode(&body) {
			return refusal(http.StatusBadRequest, 50109, "The request body contains invalid JSON."), false
		}
		j := &judgement{object{}}
		if r.judge(part{of: j, value: body}, c); len(j.tree) > 0 {
			return answer{http.StatusBadRequest, object{"code": 50035, "message": "Invalid Form Body", "errors": j.tree}}, false
		}
		return answer{}, true
	}
	if len(c.body) > 0 {
		return refusal(http.StatusBadRequest, 50035, "Invalid Form Body: no rule judges "+c.method+" "+strings.Join(c.parts, "/")), false
	}
	return answer{}, true
}

func (p part) key(name string) part {
	in, _ := p.value.(object)
	return part{p.of, append(slices.Clone(p.path), name), in[name]}
}

func (p part) wrong(code, text string, args ...any) {
	at := p.of.tree
	for _, key := range p.path {
		next, _ := at[key].(object)
		if next == nil {
			next = object{}
			at[key] = next
		}
		at = next
	}
	list, _ := at["_errors"].([]object)
	at["_errors"] = append(list, object{"code": code, "message": fmt.Sprintf(text, args...)})
}

// units counts in UTF-16: the stricter of two ways to count that were reported.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

// length complains about a size out of bounds. If none is enough, the value may be missing.
func (p part) length(n, least, most int) {
	switch {
	case p.value == nil && least > 0:
		p.wrong("BASE_TYPE_REQUIRED", "This field is required")
	case least > 0 && (n < least || n > most):
		p.wrong("BASE_TYPE_BAD_LENGTH", "Must be between %d and %d in length.", least, most)
	case n > most:
		p.wrong("BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", most)
	}
}

// text judges a text and returns it.
func (p part) text(least, most int) string {
	text, ok := p.value.(string)
	if !ok && p.value != nil {
		p.wrong("STRING_TYPE_CONVERT", "Could not interpret %q as string.", fmt.Sprint(p.value))
		return ""
	}
	p.length(units(text), least, most)
	return text
}

// list judges a list and returns its elements.
func (p part) list(least, most int) (all []part) {
	list, ok := p.value.([]any)
	if !ok && p.value != nil {
		p.wrong("LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
		return nil
	}
	p.length(len(list), least, most)
	for i, value := range list {
		all = append(all, part{p.of, append(slices.Clone(p.path), strconv.Itoa(i)), value})
	}
	return all
}

// number judges a number and returns it. It may be missing if orNone is set.
func (p part) number(least, most int, orNone bool) int {
	n, ok := p.value.(float64)
	switch {
	case p.value == nil && orNone:
	case !ok || n != float64(int(n)):
		p.wrong("NUMBER_TYPE_COERCE", "Value \"%v\" is not int.", p.value)
	case int(n) < least || int(n) > most:
		p.wrong("NUMBER_TYPE_RANGE", "int value should be between %d and %d.", least, most)
	}
	return int(n)
}

func (p part) oneOf(allowed ...any) {
	if !slices.Contains(allowed, p.value) {
		p.wrong("BASE_TYPE_CHOICES", "Value must be one of %v.", allowed)
	}
}

// once complains about the second of two equal values.
func (p part) once(seen map[string]bool, value, code, text string) {
	if seen[value] && value != "" {
		p.wrong(code, "%s", text)
	}
	seen[value] = true
}

var snowflakeForm = regexp.MustCompile(`^\d{1,20}$`)

func (p part) snowflake() {
	if id, _ := p.value.(string); !snowflakeForm.MatchString(id) {
		p.wrong("NUMBER_TYPE_COERCE", "Value \"%v\" is not snowflake.", p.value)
	}
}

func (p part) address(most int, schemes ...string) {
	if u, err := url.Parse(p.text(1, most)); err != nil || !slices.Contains(schemes, u.Scheme) {
		p.wrong("URL_TYPE_INVALID_SCHEME", "Scheme %q is not supported. Scheme must be one of %v.", fmt.Sprint(p.value), schemes)
	}
}

// Flags of a message. https://docs.discord.com/developers/resources/message#message-object-message-flags
const (
	suppressEmbeds = 1 << 2
	ephemeral      = 1 << 6
	silent         = 1 << 12
)

// message judges what a request writes. A new message needs a content; of an edit, each part may be missing.
// https://docs.discord.com/developers/resources/message#create-message
func (p part) message(c *call, isNew bool, flags int) {
	if got := p.key("flags").number(0, 1<<31-1, true); got&^flags != 0 {
		p.key("flags").wrong("BASE_TYPE_CHOICES", "The flags %d cannot be set here.", got&^flags)
	}
	got, _ := p.key("flags").value.(float64)
	switch {
	case int(got)&isVoice != 0:
		p.voice(c)
	case int(got)&componentsV2 == 0:
		p.key("content").text(0, 2000)
		p.rows()
	default:
		p.shown(c)
	}
	p.embeds()
	p.mentions()
	p.reference(isNew)
	switch nonce := p.key("nonce"); nonce.value.(type) {
	case float64, nil:
	default:
		if units(nonce.text(0, 1<<20)) > 25 {
			nonce.wrong("NONCE_TYPE_TOO_LONG", "Nonce is too long. It must be 25 characters or less")
		}
	}
	for _, a := range p.key("attachments").list(0, mostFiles) {
		a.key("description").text(0, 1024)
		if id := fmt.Sprint(a.key("id").value); len(id) < 10 && !slices.ContainsFunc(c.files, func(f formFile) bool { return f.field == "files["+id+"]" }) {
			a.wrong("ATTACHMENT_NOT_FOUND", "The file files[%s] was not sent.", id)
		}
	}
}

// voice judges a voice message. It is one recording in Ogg Opus, with its length and its waveform, and has nothing else.
// https://docs.discord.com/developers/resources/message#voice-messages
func (p part) voice(c *call) {
	for _, other := range []string{"content", "components", "embeds", "poll", "sticker_ids"} {
		if p.key(other).value != nil {
			p.key(other).wrong("VOICE_MESSAGE_ADDITIONAL_CONTENT", "Voice messages do not support additional content.")
		}
	}
	all := p.key("attachments").list(1, 1)
	if len(all) != 1 || len(c.files) != 1 || !strings.HasPrefix(c.files[0].content, "OggS") || !strings.Contains(c.files[0].content, "OpusHead") {
		p.wrong("VOICE_MESSAGE_INVALID_CONTENT", "Voice messages must have a single audio attachment.")
		return
	}
	waveform, _ := all[0].key("waveform").value.(string)
	if amplitudes, err := base64.StdEncoding.DecodeString(waveform); err != nil || len(amplitudes) == 0 || len(amplitudes) > 256 {
		all[0].key("waveform").wrong("VOICE_MESSAGE_WAVEFORM_INVALID", "The waveform must have 1 to 256 amplitudes in Base64.")
	}
	if seconds, _ := all[0].key("duration_secs").value.(float64); seconds <= 0 || seconds > 1200 {
		all[0].key("duration_secs").wrong("NUMBER_TYPE_RANGE", "The duration must be between 0 and 1200 seconds.")
	}
}

func (p part) mentions() {
	m := p.key("allowed_mentions")
	parsed := m.key("parse").list(0, 3)
	for _, kind := range parsed {
		kind.oneOf("users", "roles", "everyone")
		name, _ := kind.value.(string)
		if list, _ := m.key(name).value.([]any); len(list) > 0 {
			m.wrong("MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[%q] and %s: [ids...] are mutually exclusive.", name, name)
		}
	}
	for _, kind := range []string{"users", "roles"} {
		for _, id := range m.key(kind).list(0, 100) {
			id.snowflake()
		}
	}
}

func (p part) reference(isNew bool) {
	r := p.key("message_reference")
	if r.value == nil {
		return
	}
	if !isNew {
		r.wrong("UNKNOWN_FIELD", "Only a new message can refer to another.")
	}
	r.key("message_id").snowflake()
	for _, id := range []string{"channel_id", "guild_id"} {
		if r.key(id).value != nil {
			r.key(id).snowflake()
		}
	}
	if kind := r.key("type"); kind.value != nil {
		kind.oneOf(0.0, 1.0)
	}
}

// https://docs.discord.com/developers/resources/message#embed-object-embed-limits
func (p part) embeds() {
	sum := 0
	text := func(p part, least, most int) { sum += units(strings.TrimSpace(p.text(least, most))) }
	for _, e := range p.key("embeds").list(0, 10) {
		text(e.key("title"), 0, 256)
		text(e.key("description"), 0, 4096)
		text(e.key("footer").key("text"), 0, 2048)
		text(e.key("author").key("name"), 0, 256)
		for _, f := range e.key("fields").list(0, 25) {
			text(f.key("name"), 1, 256)
			text(f.key("value"), 1, 1024)
		}
	}
	if sum > 6000 {
		p.key("embeds").wrong("MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
	}
}

func judgeThread(p part, _ *call) {
	p.key("name").text(1, 100)
	p.key("rate_limit_per_user").number(0, 21600, true)
	if after := p.key("auto_archive_duration"); after.value != nil {
		after.oneOf(60.0, 1440.0, 4320.0, 10080.0)
	}
}

// judgeChannel judges a change of a thread.
// https://docs.discord.com/developers/resources/channel#modify-channel
func judgeChannel(p part, _ *call) {
	if p.key("name").value != nil {
		p.key("name").text(1, 100)
	}
	for _, name := range []string{"archived", "locked", "invitable"} {
		if v := p.key(name); v.value != nil {
			v.oneOf(true, false)
		}
	}
	if after := p.key("auto_archive_duration"); after.value != nil {
		after.oneOf(60.0, 1440.0, 4320.0, 10080.0)
	}
}

// judgeHookPost judges a message of a webhook. The token of an interaction is a webhook, too.
// https://docs.discord.com/developers/resources/webhook#execute-webhook
func judgeHookPost(p part, c *call) {
	if c.parts[1] == appID {
		p.message(c, false, suppressEmbeds|ephemeral|silent|componentsV2)
		return
	}
	p.message(c, false, suppressEmbeds|silent|componentsV2)
	if name := p.key("username"); name.value != nil {
		name.webhookName()
	}
	if avatar := p.key("avatar_url"); avatar.value != nil && avatar.value != "" {
		avatar.address(2048, "http", "https")
	}
}

// webhookName judges the name of a webhook or of its message.
// https://docs.discord.com/developers/resources/webhook#create-webhook
func (p part) webhookName() {
	name := strings.ToLower(strings.TrimSpace(p.text(1, 80)))
	for _, word := range []string{"discord", "clyde"} {
		if strings.Contains(name, word) {
			p.wrong("USERNAME_INVALID_CONTAINS", "Username cannot contain %q", word)
		}
	}
	if name == "" || name == "everyone" || name == "here" {
		p.wrong("USERNAME_INVALID", "Username cannot be %q", name)
	}
}

// https://docs.discord.com/developers/resources/guild#modify-current-member
func judgeProfile(p part, _ *call) {
	p.key("nick").text(0, 32)
	if avatar := p.key("avatar"); avatar.value != nil && !strings.HasPrefix(avatar.text(1, 1<<24), "data:image/") {
		avatar.wrong("IMAGE_INVALID", "Invalid image data")
	}
}

// Limits of files: https://docs.discord.com/developers/reference#uploading-files
const (
	mostFiles   = 10
	mostFile    = 10 << 20
	mostRequest = 25 << 20
)

// formFile is a file of a form.
type formFile struct{ field, name, content string }

type formFiles []formFile

var fileField = regexp.MustCompile(`^files\[\d+\]$`)

func (all formFiles) judged() (answer, bool) {
	seen, sum := map[string]bool{}, 0
	for _, f := range all {
		if sum += len(f.content); len(f.content) > mostFile || sum > mostRequest {
			return refusal(http.StatusRequestEntityTooLarge, 40005, "Request entity too large"), false
		}
		if !fileField.MatchString(f.field) || f.name == "" || seen[f.field] {
			return malformed("files", "ATTACHMENT_INVALID", "Each file needs a name and a field files[n] of its own."), false
		}
		seen[f.field] = true
	}
	if len(all) > mostFiles {
		return refusal(http.StatusBadRequest, 30015, "Maximum number of attachments in a message reached (10)"), false
	}
	return answer{}, true
}

// byName returns the contents of files by their names.
func (all formFiles) byName() map[string]string {
	if all == nil {
		return nil
	}
	found := map[string]string{}
	for _, f := range all {
		found[f.name] = f.content
	}
	return found
}
