package discordtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"familiar/internal/test/discordtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rewrite sends requests for version 9 at discord.com to version 10 at the test server.
type rewrite struct {
	base string
	next *http.Transport
}

func (r rewrite) RoundTrip(req *http.Request) (*http.Response, error) {
	u, err := url.Parse(strings.Replace(req.URL.String(), "https://discord.com/api/v9", r.base+"/v10", 1))
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.URL, req.Host = u, ""
	return r.next.RoundTrip(req)
}

// client returns discordgo at the test server. discordgo was written for the real Discord.
func client(t *testing.T, far *discordtest.Server) *discordgo.Session {
	t.Helper()
	s, err := discordgo.New("Bot " + discordtest.Token)
	if err != nil {
		t.Fatal(err)
	}
	next := &http.Transport{}
	t.Cleanup(next.CloseIdleConnections)
	s.Client = &http.Client{Transport: rewrite{far.URL, next}, Timeout: time.Minute}
	s.ShouldRetryOnRateLimit, s.ShouldReconnectOnError, s.SyncEvents = false, false, true
	return s
}

// refused returns status and code of a request that must fail.
func refused(t *testing.T, err error) (status, code int) {
	t.Helper()
	var rest *discordgo.RESTError
	if !errors.As(err, &rest) || rest.Message == nil {
		t.Fatalf("error %v is not an answer of Discord's", err)
	}
	return rest.Response.StatusCode, rest.Message.Code
}

func TestRESTWithAnotherClient(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	s := client(t, far)
	general := far.ID("general")
	sent, err := s.ChannelMessageSend(general, "hello <@"+far.UserID("ada")+">")
	if err != nil || sent.Author.ID != far.UserID("familiar") || sent.Timestamp.IsZero() {
		t.Fatalf("sent %+v, %v", sent, err)
	}
	if pinged := far.Messages("general")[0].Pinged; len(pinged) != 1 || pinged[0] != "ada" {
		t.Errorf("pinged %v: without allowed_mentions everybody named is", pinged)
	}
	if edited, err := s.ChannelMessageEdit(general, sent.ID, "changed"); err != nil || edited.EditedTimestamp == nil {
		t.Errorf("edited %+v, %v", edited, err)
	}
	if got, err := s.ChannelMessages(general, 10, "", "", ""); err != nil || len(got) != 1 || got[0].Content != "changed" {
		t.Errorf("listed %+v, %v", got, err)
	}
	if c, err := s.UserChannelCreate(far.UserID("ada")); err != nil || c.Type != discordgo.ChannelTypeDM {
		t.Errorf("direct channel %+v, %v", c, err)
	}
	if err := s.ChannelMessageDelete(general, sent.ID); err != nil || len(far.Messages("general")) != 0 {
		t.Errorf("delete: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.Accept("content", "empty message", "Unknown", "401")
	s := client(t, far)
	general := far.ID("general")
	post := func(channel, text string) error {
		_, err := s.ChannelMessageSend(channel, text)
		return err
	}
	for name, c := range map[string]struct {
		err          error
		status, code int
	}{
		"too long":        {post(general, strings.Repeat("x", 2001)), 400, 50035},
		"empty":           {post(general, "  "), 400, 50006},
		"unknown channel": {post("5", "x"), 404, 10003},
		"unknown message": {s.ChannelMessageDelete(general, "5"), 404, 10008},
	} {
		if status, code := refused(t, c.err); status != c.status || code != c.code {
			t.Errorf("%s: status %d, code %d", name, status, code)
		}
	}
	s.Token = "Bot wrong"
	if status, _ := refused(t, post(general, "x")); status != 401 {
		t.Errorf("wrong token: status %d", status)
	}
}

// TestFollowUps follows up five times where a person brought the app along, and without limit where it is installed.
func TestFollowUps(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.Accept("maximum number of follow up messages")
	far.AddAway("another", "elsewhere")
	s := client(t, far)
	for channel, limit := range map[string]int{"elsewhere": 5, "general": 8} {
		given := far.Interact(channel, "ada", "lookup", nil, false)
		i := &discordgo.Interaction{ID: given.ID, AppID: "100000000000000002", Token: given.Token}
		hidden := &discordgo.InteractionResponseData{Content: "found", Flags: discordgo.MessageFlagsEphemeral}
		if err := s.InteractionRespond(i, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: hidden}); err != nil {
			t.Fatal(err)
		}
		var err error
		n := 0
		for ; n < 8 && err == nil; n++ {
			if _, err = s.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "more"}); err != nil {
				n--
			}
		}
		if n != limit {
			t.Errorf("%s: %d follow-ups, want %d", channel, n, limit)
		}
		if limit < 8 {
			if status, code := refused(t, err); status != 400 || code != 40094 {
				t.Errorf("status %d, code %d", status, code)
			}
		}
	}
}

// TestCommandsAreJudged registers commands that Discord refuses.
func TestCommandsAreJudged(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.Accept("400 Invalid Form Body")
	s := client(t, far)
	good := func() *discordgo.ApplicationCommand {
		return &discordgo.ApplicationCommand{
			Type: discordgo.ChatApplicationCommand, Name: "lookup", Description: "Look",
			IntegrationTypes: &[]discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationGuildInstall},
			Contexts:         &[]discordgo.InteractionContextType{discordgo.InteractionContextGuild},
			Options:          []*discordgo.ApplicationCommandOption{{Type: discordgo.ApplicationCommandOptionString, Name: "query", Description: "What"}},
		}
	}
	register := func(change func(*discordgo.ApplicationCommand)) error {
		c := good()
		change(c)
		_, err := s.ApplicationCommandBulkOverwrite("100000000000000002", "", []*discordgo.ApplicationCommand{c})
		return err
	}
	if err := register(func(*discordgo.ApplicationCommand) {}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*discordgo.ApplicationCommand){
		"capital":     func(c *discordgo.ApplicationCommand) { c.Name = "Lookup" },
		"long name":   func(c *discordgo.ApplicationCommand) { c.Name = strings.Repeat("x", 33) },
		"description": func(c *discordgo.ApplicationCommand) { c.Description = strings.Repeat("x", 101) },
		"locale": func(c *discordgo.ApplicationCommand) {
			c.NameLocalizations = &map[discordgo.Locale]string{"pt": "buscar"}
		},
		"translation": func(c *discordgo.ApplicationCommand) {
			c.NameLocalizations = &map[discordgo.Locale]string{"de": "nach schlagen"}
		},
		"menu": func(c *discordgo.ApplicationCommand) { c.Type = discordgo.MessageApplicationCommand },
		"suggestions": func(c *discordgo.ApplicationCommand) {
			c.Options[0].Autocomplete = true
			c.Options[0].Choices = []*discordgo.ApplicationCommandOptionChoice{{Name: "a", Value: "a"}}
		},
		"installation": func(c *discordgo.ApplicationCommand) { c.IntegrationTypes = &[]discordgo.ApplicationIntegrationType{7} },
	} {
		if status, code := refused(t, register(change)); status != 400 || code != 50035 {
			t.Errorf("%s: status %d, code %d", name, status, code)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.Accept("429")
	far.Limit(2, time.Hour)
	statuses := map[int]int{}
	for range 4 {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", far.URL+"/v10/channels/"+far.ID("general")+"/messages", strings.NewReader(`{"content":"x"}`))
		req.Header.Set("Authorization", "Bot "+discordtest.Token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		statuses[resp.StatusCode]++
	}
	http.DefaultClient.CloseIdleConnections()
	if statuses[200] != 2 || statuses[429] != 2 {
		t.Errorf("got %v, want two and two", statuses)
	}
}

func TestGatewayWithAnotherClient(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	s := client(t, far)
	// discordgo asks for version 9 of the gateway. The fragment hides what it appends.
	address := strings.Replace(far.URL, "http", "ws", 1)
	address = strings.TrimSuffix(address, "/api") + "/gateway?v=10&encoding=json#"
	raw, _ := json.Marshal(map[string]string{"url": address})
	far.Fail(discordtest.Fault{Route: "GET gateway", Status: 200, Body: string(raw)})
	heard := make(chan *discordgo.Message, 10)
	s.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { heard <- m.Message })
	s.Identify.Intents = discordgo.IntentGuilds | discordgo.IntentGuildMessages
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := far.Say("general", "ada", "not for you")
	far.Reply("general", "ada", first, "@familiar this is", true)
	one, two := <-heard, <-heard
	if one.ID != first || one.Content != "" {
		t.Errorf("got %+v: without the intent there is no content", one)
	}
	if two.Content != "<@"+far.UserID("familiar")+"> this is" || two.ReferencedMessage == nil || two.ReferencedMessage.ID != first || two.GuildID == "" {
		t.Errorf("got %+v", two)
	}
	if guild, err := s.State.Guild(two.GuildID); err != nil || guild.Name != "hall" || len(guild.Channels) != 1 {
		t.Errorf("server %+v, %v", guild, err)
	}
}

// TestJudge breaks rules of the gateway and sends requests that Discord refuses.
func TestJudge(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.Accept("Unknown Message")
	s := client(t, far)
	_ = s.ChannelMessageDelete(far.ID("general"), "1")
	address := strings.TrimSuffix(strings.Replace(far.URL, "http", "ws", 1), "/api") + "/gateway?v=10&encoding=json"
	dial := func() *websocket.Conn {
		ws, _, err := websocket.DefaultDialer.Dial(address, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		return ws
	}
	identify := `{"op":2,"d":{"token":"` + discordtest.Token + `"}}`
	// send sends frames and reads until the heartbeat that follows them is acknowledged, or the connection is closed.
	send := func(frames ...string) {
		ws := dial()
		for _, frame := range frames {
			_ = ws.WriteMessage(websocket.TextMessage, []byte(frame))
		}
		for err := error(nil); err == nil; {
			var f struct{ Op int }
			if err = ws.ReadJSON(&f); f.Op == 11 {
				return
			}
		}
	}
	send(`{"op":3,"d":{"status":"online","activities":[]}}`)
	send(identify, identify, `{"op":4}`, `{"op":1,"d":"`+strings.Repeat("x", 4096)+`"}`)
	want := map[string]int{
		"op 3 before IDENTIFY": 1, "a second IDENTIFY or RESUME on a connection": 1, "two IDENTIFYs in 5 s": 1,
		"op 4, which no bot of this kind sends": 1, "op 1 has more than 4096 bytes": 1,
	}
	if got := far.Violations(); !maps.Equal(got, want) {
		t.Errorf("violations %v", got)
	}
	if got := far.Refusals(); !maps.Equal(got, map[string]int{"DELETE channels/*/messages/*: 404 Unknown Message": 1}) {
		t.Errorf("refusals %v", got)
	}
}

func TestVirtualTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := discordtest.NewVirtual(t)
		far.Accept("401")
		client := http.Client{Transport: &http.Transport{DialContext: far.Dial}}
		defer client.CloseIdleConnections()
		far.Fail(discordtest.Fault{Route: "GET gateway", Delay: time.Hour})
		begun := time.Now()
		resp, err := client.Get(far.URL + "/v10/gateway")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusUnauthorized || !strings.Contains(string(body), "401") {
			t.Errorf("status %d, %s, %v", resp.StatusCode, body, err)
		}
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("took %v", took)
		}
	})
}

// TestPipe compares a connection in memory with a socket.
func TestDial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := discordtest.NewVirtual(t)
		conn, err := far.Dial(t.Context(), "tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		conn.SetReadDeadline(begun.Add(time.Minute))
		if _, err := conn.Read(make([]byte, 1)); err != os.ErrDeadlineExceeded || time.Since(begun) != time.Minute {
			t.Errorf("read: %v after %v", err, time.Since(begun))
		}
		conn.SetReadDeadline(time.Time{})
		if _, err := io.WriteString(conn, "GET /gateway HTTP/1.0\r\n\r\n"); err != nil {
			t.Errorf("write: %v", err)
		}
		if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.0 400") {
			t.Errorf("read %q, %v", got, err)
		}
		if _, err := conn.Write([]byte("more")); err == nil {
			t.Error("wrote to a connection that the far end has closed")
		}
		conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err != net.ErrClosed {
			t.Errorf("read after the end: %v", err)
		}
	})
}

// greet begins a session for a shard.
func greet(tb testing.TB, far *discordtest.Server, shard, of int) *websocket.Conn {
	address := strings.TrimSuffix(strings.Replace(far.URL, "http", "ws", 1), "/api") + "/gateway?v=10&encoding=json"
	ws, _, err := websocket.DefaultDialer.Dial(address, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ws.Close() })
	if err := ws.WriteJSON(map[string]any{"op": 2, "d": map[string]any{"token": discordtest.Token, "intents": 1 << 15, "shard": []int{shard, of}}}); err != nil {
		tb.Fatal(err)
	}
	return ws
}

// TestShards begins sessions that are valid, and some that are not.
func TestShards(t *testing.T) {
	t.Parallel()
	far := discordtest.New(t)
	far.AddGuild("attic")
	far.AddGuild("cellar")
	for _, c := range []struct{ shard, of, most, want int }{
		{2, 2, 2500, 4010}, {-1, 2, 2500, 4010}, {0, 0, 2500, 4010}, {0, 1, 2, 4011}, {0, 2, 1, 4011}, {0, 2, 2, 0}, {1, 2, 1, 0},
	} {
		far.MostGuilds(c.most)
		ws := greet(t, far, c.shard, c.of)
		guilds, code := 0, 0
		for code == 0 && guilds < 1 {
			var f struct {
				Type string `json:"t"`
			}
			if err := ws.ReadJSON(&f); err != nil {
				if closed := (*websocket.CloseError)(nil); errors.As(err, &closed) {
					code = closed.Code
				}
				break
			}
			if f.Type == "GUILD_CREATE" {
				guilds++
			}
		}
		ws.Close()
		if code != c.want {
			t.Errorf("shard %d of %d with %d servers at most: code %d after %d servers, want %d", c.shard, c.of, c.most, code, guilds, c.want)
		}
	}
}

// BenchmarkGuilds makes servers with a channel each, and begins a session for every 1,000 of them. Somebody writes in each. The time for a
// server does not depend on how many there are.
func BenchmarkGuilds(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				far, of := discordtest.New(b), n/1000
				var channels []string
				for i := range n {
					channels = append(channels, far.AddChannel(far.AddGuild(fmt.Sprint("guild-", i)), fmt.Sprint("room-", i)))
				}
				var reading sync.WaitGroup
				var heard atomic.Int64
				for shard := range of {
					ws := greet(b, far, shard, of)
					reading.Go(func() {
						for {
							_, frame, err := ws.ReadMessage()
							if err != nil {
								return
							}
							if heard.Add(1); !bytes.Contains(frame, []byte(`"op":0`)) {
								heard.Add(-1)
							}
						}
					})
				}
				if !far.WaitShards(of, time.Minute) {
					b.Fatalf("%d shards", far.Shards(of))
				}
				for _, c := range channels {
					far.Say(c, "ada", "@familiar hello")
				}
				want := int64(of + n + 1 + n) // READY, the servers and "hall", the messages
				for heard.Load() < want {
					time.Sleep(time.Millisecond)
				}
				far.Drop(0)
				reading.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/server")
		})
	}
}
