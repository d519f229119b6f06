package discordtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"familiar/internal/test/discordtest"
)

// TestLimitsOfPayloads sends what just fits and what no longer does, by the limits in Discord's documentation. Where a case names a field,
// the answer must be error 50035 at that field.
func TestLimitsOfPayloads(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.Accept("400 Invalid Form Body")
	x := func(n int) string { return strings.Repeat("x", n) }
	list := func(n int, each string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(each+",", n), ",") + "]"
	}
	numbered := func(n int, each string) string {
		var all []string
		for i := range n {
			all = append(all, strings.ReplaceAll(each, "#", fmt.Sprint(i)))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	button := func(label, id string) string {
		return fmt.Sprintf(`{"type":2,"style":2,"label":%q,"custom_id":%q}`, label, id)
	}
	row := func(buttons string) string { return `{"type":1,"components":` + buttons + `}` }
	post := func(fields string) string { return `{"content":"x",` + fields + `}` }
	shown := func(components string) string { return `{"flags":32768,"components":` + components + `}` }
	text := func(n int) string { return fmt.Sprintf(`{"type":10,"content":%q}`, x(n)) }
	embed := func(fields string) string { return `{"embeds":[{` + fields + `}]}` }
	form := func(title, label, field string) string {
		return fmt.Sprintf(`{"type":9,"data":{"custom_id":"f","title":%q,"components":[{"type":18,"label":%q,"component":{"type":4,"style":2,"custom_id":"i"%s}}]}}`, title, label, field)
	}
	choices := func(n int, name, value string) string {
		return `{"type":8,"data":{"choices":` + list(n, fmt.Sprintf(`{"name":%q,"value":%q}`, name, value)) + `}}`
	}
	command := func(name, description, rest string) string {
		return fmt.Sprintf(`[{"type":1,"name":%q,"description":%q,"integration_types":[0],"contexts":[0]%s}]`, name, description, rest)
	}
	option := func(name, rest string) string {
		return fmt.Sprintf(`{"type":3,"name":%q,"description":"d"%s}`, name, rest)
	}
	menu := func(kind int, name string) string {
		return fmt.Sprintf(`[{"type":%d,"name":%q,"integration_types":[0],"contexts":[0]}]`, kind, name)
	}
	general, guild := far.ID("general"), far.AddGuild("another")
	thread := far.AddThread("general", "boats", false)
	send := "POST /channels/" + general + "/messages"
	asked := func(focused string) string {
		o := discordtest.Order{Channel: "general", Author: "ada", Command: "c", Focused: focused}
		if focused != "" {
			o.Options = map[string]string{focused: "x"}
		}
		i := far.Order(o)
		return "POST /interactions/" + i.ID + "/" + i.Token + "/callback"
	}
	for _, c := range []struct{ request, fits, fails, field string }{
		{send, `{"content":"` + x(2000) + `"}`, `{"content":"` + x(2001) + `"}`, "content"},
		{send, `{"content":"` + strings.Repeat("😀", 1000) + `"}`, `{"content":"` + strings.Repeat("😀", 1001) + `"}`, "content"},
		{send, post(`"nonce":"` + x(25) + `"`), post(`"nonce":"` + x(26) + `"`), "nonce"},
		{send, post(`"flags":4`), post(`"flags":64`), "flags"},
		{send, post(`"allowed_mentions":{"parse":["users"],"roles":["1"]}`), post(`"allowed_mentions":{"parse":["users"],"users":["1"]}`), "allowed_mentions"},
		{send, post(`"allowed_mentions":{"parse":[]}`), post(`"allowed_mentions":{"parse":["here"]}`), "allowed_mentions.parse.0"},
		{send, post(`"allowed_mentions":{"users":` + list(100, `"1"`) + `}`), post(`"allowed_mentions":{"users":` + list(101, `"1"`) + `}`), "allowed_mentions.users"},
		{send, post(`"message_reference":{"message_id":"5","fail_if_not_exists":false}`), post(`"message_reference":{"message_id":"five","fail_if_not_exists":false}`), "message_reference.message_id"},
		{send, post(`"components":` + numbered(5, row(`[`+button("b", "#")+`]`))), post(`"components":` + numbered(6, row(`[`+button("b", "#")+`]`))), "components"},
		{send, post(`"components":[` + row(numbered(5, button("b", "#"))) + `]`), post(`"components":[` + row(numbered(6, button("b", "#"))) + `]`), "components.0.components"},
		{send, post(`"components":[]`), post(`"components":[` + row(`[]`) + `]`), "components.0.components"},
		{send, post(`"components":[` + row(`[`+button(x(80), "1")+`]`) + `]`), post(`"components":[` + row(`[`+button(x(81), "1")+`]`) + `]`), "components.0.components.0.label"},
		{send, post(`"components":[` + row(`[`+button("b", x(100))+`]`) + `]`), post(`"components":[` + row(`[`+button("b", x(101))+`]`) + `]`), "components.0.components.0.custom_id"},
		{send, post(`"components":[` + row(numbered(2, button("b", "#"))) + `]`), post(`"components":[` + row(list(2, button("b", "1"))) + `]`), "components.0.components.1.custom_id"},
		{send, post(`"components":[` + row(`[{"type":2,"style":5,"label":"l","url":"https://a.example"}]`) + `]`), post(`"components":[` + row(`[{"type":2,"style":5,"label":"l","url":"javascript:x"}]`) + `]`), "components.0.components.0.url"},
		{send, shown(`[{"type":17,"components":` + list(39, text(1)) + `}]`), shown(`[{"type":17,"components":` + list(40, text(1)) + `}]`), "components"},
		{send, shown(`[` + text(4000) + `]`), shown(`[` + text(3000) + `,` + text(1001) + `]`), "components"},
		{send, shown(`[` + text(1) + `]`), `{"flags":32768,"content":"x","components":[` + text(1) + `]}`, "content"},
		{send, shown(`[{"type":17,"components":[` + text(1) + `]}]`), shown(`[{"type":17,"components":[{"type":17,"components":[` + text(1) + `]}]}]`), "components.0.components.0.type"},
		{send, shown(`[` + text(1) + `]`), shown(`[` + text(1) + `,{"type":13,"file":{"url":"attachment://a.txt"}}]`), "components.1.file"},
		{send, embed(`"title":"` + x(256) + `"`), embed(`"title":"` + x(257) + `"`), "embeds.0.title"},
		{send, embed(`"description":"` + x(4096) + `"`), embed(`"description":"` + x(4097) + `"`), "embeds.0.description"},
		{send, embed(`"fields":` + list(25, `{"name":"n","value":"v"}`)), embed(`"fields":` + list(26, `{"name":"n","value":"v"}`)), "embeds.0.fields"},
		{send, embed(`"fields":[{"name":"n","value":"` + x(1024) + `"}]`), embed(`"fields":[{"name":"n","value":"` + x(1025) + `"}]`), "embeds.0.fields.0.value"},
		{send, `{"embeds":[{"description":"` + x(4000) + `"},{"description":"` + x(2000) + `"}]}`, `{"embeds":[{"description":"` + x(4000) + `"},{"description":"` + x(2001) + `"}]}`, "embeds"},
		{send, `{"embeds":` + list(10, `{"title":"t"}`) + `}`, `{"embeds":` + list(11, `{"title":"t"}`) + `}`, "embeds"},
		{"POST /channels/" + general + "/webhooks", `{"name":"` + x(80) + `"}`, `{"name":"` + x(81) + `"}`, "name"},
		{"POST /channels/" + general + "/webhooks", `{"name":"Moss"}`, `{"name":"Dear DisCord"}`, "name"},
		{asked(""), "", `{"type":7,"data":{}}`, "type"},
		{asked(""), "", `{"type":5,"data":{"flags":4}}`, "data.flags"},
		{asked(""), `{"type":4,"data":{"content":"` + x(2000) + `","flags":64}}`, `{"type":4,"data":{"content":"` + x(2001) + `"}}`, "data.content"},
		{asked("o"), choices(25, x(100), x(100)), choices(26, "n", "v"), "data.choices"},
		{asked("o"), choices(0, "", ""), choices(1, x(101), "v"), "data.choices.0.name"},
		{asked("o"), "", choices(1, "n", x(101)), "data.choices.0.value"},
		{asked(""), form(x(45), x(45), `,"max_length":4000`), form(x(46), "l", ""), "data.title"},
		{asked(""), "", form("t", x(46), ""), "data.components.0.label"},
		{asked(""), "", form("t", "l", `,"max_length":4001`), "data.components.0.component.max_length"},
		{asked(""), "", form("t", "l", `,"max_length":5,"value":"sixsix"`), "data.components.0.component.value"},
		{"PUT /applications/100000000000000002/commands", command(x(32), x(100), ""), command(x(33), "d", ""), "0.name"},
		{"PUT /applications/100000000000000002/commands", command("ab", "d", ""), command("Ab", "d", ""), "0.name"},
		{"PUT /applications/100000000000000002/commands", menu(2, "What Do You "+x(20)), menu(2, "What Do You "+x(21)), "0.name"},
		{"PUT /applications/100000000000000002/commands", menu(3, "x"), menu(4, "x"), "0.type"},
		{"PUT /applications/100000000000000002/commands", command("a", "d", `,"options":`+numbered(25, option("o#", ""))), command("a", "d", `,"options":`+numbered(26, option("o#", ""))), "0.options"},
		{"PUT /applications/100000000000000002/commands", command("a", "d", `,"options":[`+option("o", `,"max_length":6000`)+`]`), command("a", "d", `,"options":[`+option("o", `,"max_length":6001`)+`]`), "0.options.0.max_length"},
		{"PUT /applications/100000000000000002/commands", command("a", "d", `,"name_localizations":{"de":"b"}`), command("a", "d", `,"name_localizations":{"de":"B c"}`), "0.name_localizations.de"},
		{"PUT /applications/100000000000000002/commands", command("a", "d", `,"description_localizations":{"pt-BR":"b"}`), command("a", "d", `,"description_localizations":{"pt":"b"}`), "0.description_localizations.pt"},
		{"POST /applications/100000000000000002/commands", strings.Trim(command("one", "d", ""), "[]"), `{"type":1,"name":"One","description":"d","integration_types":[0],"contexts":[0]}`, "name"},
		{"POST /users/@me/channels", `{"recipient_id":"` + far.UserID("ada") + `"}`, `{"recipient_id":"ada"}`, "recipient_id"},
		{"PATCH /channels/" + thread, `{"archived":false,"name":"` + x(100) + `"}`, `{"archived":false,"name":"` + x(101) + `"}`, "name"},
		{"PATCH /channels/" + thread, `{"archived":false}`, `{"archived":"no"}`, "archived"},
		{"PATCH /guilds/" + guild + "/members/@me", `{"nick":"` + x(32) + `"}`, `{"nick":"` + x(33) + `"}`, "nick"},
	} {
		if status, body := ask(t, far, c.request, c.fails); status != http.StatusBadRequest || !strings.Contains(body, `"code":50035`) || !fault(body, c.field) {
			t.Errorf("%s %.80s: %d %s", c.request, c.fails, status, body)
		}
		if c.fits == "" {
			continue
		}
		if status, body := ask(t, far, c.request, c.fits); status >= 300 {
			t.Errorf("%s %.80s: %d %s", c.request, c.fits, status, body)
		}
	}
	if status, body := ask(t, far, "POST /channels/"+general+"/typing", `{"for":"ever"}`); status != http.StatusBadRequest {
		t.Errorf("a body that no rule judges: %d %s", status, body)
	}
}

// fault reports whether an error is about a field, such as "components.0.label".
func fault(body, field string) bool {
	var said struct {
		Errors any `json:"errors"`
	}
	_ = json.Unmarshal([]byte(body), &said)
	at := said.Errors
	for key := range strings.SplitSeq(field+"._errors", ".") {
		in, _ := at.(map[string]any)
		at = in[key]
	}
	return at != nil
}

func ask(t *testing.T, far *discordtest.Server, request, body string) (status int, said string) {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, far.URL+"/v10"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bot "+discordtest.Token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw)
}

// complaints is a test that ends with the complaints of the server.
type complaints struct {
	testing.TB
	said     []string
	cleanups []func()
}

func (c *complaints) Cleanup(f func()) { c.cleanups = append(c.cleanups, f) }
func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

// TestRefusalFailsTheTest lets a test end after a refusal that it asked for, and after one that it did not.
func TestRefusalFailsTheTest(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]int{"404 Unknown Channel": 0, "403": 1} {
		inner := &complaints{TB: t}
		far := discordtest.New(inner)
		far.Accept(accepted)
		ask(t, far, "POST /channels/5/messages", `{"content":"x"}`)
		for _, f := range inner.cleanups {
			f()
		}
		if len(inner.said) != want {
			t.Errorf("%s: %q", accepted, inner.said)
		}
	}
}
