package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/memory"
	"familiar/internal/providers/recall"
	"familiar/internal/store"
)

// members may all read every channel, except those who left.
type members struct {
	recall.Platform
	left   map[string]bool
	locale string
}

func (m members) Locale(string) string { return m.locale }

func (m members) Readable(_ context.Context, _ string, who turn.Reader, _ string, channels ...string) map[string]bool {
	all := map[string]bool{}
	for _, id := range channels {
		all[id] = !m.left[who.ID]
	}
	return all
}

// greeted runs a bot for three days, from a midnight of 2000, in a channel where greetings are on. It returns when it posted what. Somebody wrote there at
// these times on each of so many days before.
func greeted(t *testing.T, script string, days int, at time.Duration, prepare func(b *Bot, say func(at time.Duration, who, text string), told func(who, words string))) (posts []string) {
	return greetedIn(t, "", "what a lovely rainy day that is", script, days, at, prepare)
}

// greetedIn is greeted in a server of a locale where people wrote these words.
func greetedIn(t *testing.T, locale, words, script string, days int, at time.Duration, prepare func(b *Bot, say func(at time.Duration, who, text string), told func(who, words string))) (posts []string) {
	servers := &recall.Servers{Platform: members{left: map[string]bool{"left": true}, locale: locale}}
	livingIn(t, servers, script, func(b *Bot, events chan<- []turn.Event, door *recorder, _ func()) {
		ctx := context.Background()
		n := 0
		say := func(at time.Duration, who, text string) {
			n++
			m := store.Message{ID: fmt.Sprint("m", n), ChannelID: "general", GuildID: "hall", AuthorID: who, AuthorName: strings.ToUpper(who), Text: text, At: door.start.Add(at)}
			if _, err := b.Store.Messages.SaveIncoming(ctx, store.Incoming{Message: m}); err != nil {
				t.Fatal(err)
			}
		}
		for day := range days {
			say(at-time.Duration(day+1)*24*time.Hour, "ana", words)
		}
		prepare(b, say, func(who, words string) {
			say(-time.Hour, who, words)
			by := who
			if who == "learned" { // and nobody asked for it
				by = ""
			}
			_, err := b.Memories.Save(ctx, memory.Statement{Kind: memory.Person, Scope: memory.Scope{Kind: memory.ScopeChannel, ID: "general", GuildID: "hall"}, Subject: who, Author: who, By: by,
				Text: words, Sources: []string{fmt.Sprint("m", n)}, SaidAt: door.start.Add(-time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
		})
		if err := b.Store.Settings.ChangeConduct(ctx, "general", "hall", store.By{}, func(c *store.Conduct) { c.Greets = true }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		for _, c := range door.all() {
			if c.method != "typing" {
				posts = append(posts, fmt.Sprintf("%v %s", c.at.Truncate(time.Minute), c.post.Text))
			}
		}
	})
	return posts
}

func TestGreetsWhenPeopleUsuallyBegin(t *testing.T) {
	t.Parallel()
	const morning = "say Good morning, mice.\n"
	nothing := func(*Bot, func(time.Duration, string, string), func(string, string)) {}
	for name, tt := range map[string]struct {
		script  string
		days    int
		at      time.Duration
		prepare func(*Bot, func(time.Duration, string, string), func(string, string))
		want    []string
	}{
		"once, as long as nobody answers": {morning, 9, 8*time.Hour + 20*time.Minute, nothing, []string{"8h20m0s Good morning, mice."}},
		"each day on which somebody wrote": {morning, 9, 8 * time.Hour, func(_ *Bot, say func(time.Duration, string, string), _ func(string, string)) {
			say(12*time.Hour, "ben", "good day")
			say(36*time.Hour, "ben", "good day")
		}, []string{"8h0m0s Good morning, mice.", "32h0m0s Good morning, mice.", "56h0m0s Good morning, mice."}},
		"nobody has a habit":    {morning, 4, 8 * time.Hour, nothing, nil},
		"the habit is at night": {morning, 9, 23 * time.Hour, nothing, nil},
		"it was done before": {morning, 9, 8 * time.Hour, func(b *Bot, _ func(time.Duration, string, string), _ func(string, string)) {
			if first, err := b.Store.Claims.ClaimIn(context.Background(), "hall", "greeting/general/2000-01-01"); !first || err != nil {
				t.Error(first, err)
			}
		}, []string{"32h0m0s Good morning, mice."}},
		"it is paused": {morning, 9, 8 * time.Hour, func(b *Bot, _ func(time.Duration, string, string), _ func(string, string)) {
			if err := b.Store.Settings.SwitchOff(context.Background(), store.Switch{Place: "general", Kind: store.Answers, GuildID: "hall"}); err != nil {
				t.Error(err)
			}
		}, nil},
		"the quota is used up": {morning, 9, 8 * time.Hour, func(b *Bot, _ func(time.Duration, string, string), _ func(string, string)) {
			b.Gate.Quotas = []gate.Quota{{Scope: store.OfChannel, Most: 0, Of: gate.Turns}}
		}, nil},
		"the model fails":  {"error 400\n", 9, 8 * time.Hour, nothing, []string{"8h0m0s Good morning!"}},
		"one emoji is one": {"say 🌞\n", 9, 8 * time.Hour, nothing, []string{"8h0m0s 🌞"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := greeted(t, tt.script, tt.days, tt.at, tt.prepare); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// What the bot says of itself is in the language of the channel. There are texts in each language in which birthdays can be told.
func TestGreetingsAreInTheLanguageOfTheChannel(t *testing.T) {
	t.Parallel()
	for language, tt := range map[string]struct{ talk, told, morning, wish string }{
		"en": {"the weather is nice and I think we should go outside", "my birthday is on 1 January", "Good morning!", "Happy birthday, CY and ANA!"},
		"de": {"das Wetter ist schön und ich glaube wir sollten nach draußen gehen", "ich habe am 1. Januar Geburtstag", "Guten Morgen!", "Alles Gute zum Geburtstag, CY und ANA!"},
		"fr": {"il fait beau et je pense que nous devrions sortir ensemble", "mon anniversaire est le 1er janvier", "Bonjour à tous !", "Joyeux anniversaire, CY et ANA !"},
		"es": {"hace buen tiempo y creo que deberíamos salir todos juntos", "cumplo años el 1 de enero", "¡Buenos días!", "¡Feliz cumpleaños, CY y ANA!"},
		"pt": {"o tempo está bom e acho que deveríamos sair todos juntos", "faço anos a 1 de janeiro", "Bom dia!", "Feliz aniversário, CY e ANA!"},
		"it": {"il tempo è bello e penso che dovremmo uscire tutti insieme", "compio gli anni il 1 gennaio", "Buongiorno!", "Buon compleanno, CY e ANA!"},
		"nl": {"het weer is mooi en ik denk dat we naar buiten moeten gaan", "ik ben op 1 januari jarig", "Goedemorgen!", "Fijne verjaardag, CY en ANA!"},
		"ru": {"погода хорошая и я думаю что нам нужно выйти на улицу", "я родилась 1 января", "Доброе утро!", "С днём рождения, CY и ANA!"},
		"pl": {"pogoda jest ładna i myślę że powinniśmy wyjść na dwór", "mam urodziny 1 stycznia", "Dzień dobry!", "Wszystkiego najlepszego z okazji urodzin, CY i ANA!"},
		"tr": {"hava çok güzel ve bence hep birlikte dışarı çıkmalıyız", "doğum günüm 1 Ocak", "Günaydın!", "Nice mutlu yıllara, CY ve ANA!"},
		"ja": {"今日は天気がいいので、みんなで外に出かけましょう", "私の誕生日は1月1日です", "おはようございます！", "CYとANAさん、お誕生日おめでとうございます！"},
		"zh": {"今天天气很好，我觉得我们应该一起出去", "我的生日是1月1日", "早上好！", "CY和ANA，生日快乐！"},
		"ko": {"오늘 날씨가 좋아서 우리 모두 밖에 나가야 할 것 같아요", "제 생일은 1월 1일이에요", "좋은 아침이에요!", "CY, ANA 님, 생일 축하해요!"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			got := greeted(t, "error 400\n", 9, 8*time.Hour, func(_ *Bot, say func(time.Duration, string, string), told func(string, string)) {
				told("ana", tt.told)
				told("cy", tt.told)
				for n := range 12 {
					say(-time.Duration(n)*time.Minute, "ben", tt.talk)
				}
				say(30*time.Hour, "ben", tt.talk)
			})
			other := strings.NewReplacer("CY", "ANA", "ANA", "CY").Replace(tt.wish)
			if len(got) != 2 || got[0] != "8h0m0s "+tt.wish && got[0] != "8h0m0s "+other || got[1] != "32h0m0s "+tt.morning {
				t.Errorf("%q, want %q and %q", got, tt.wish, tt.morning)
			}
		})
	}
}

// A greeting to one person is in their language, and one to all in that of the channel. Where neither is clear, it is in that of the server.
func TestWhoIsGreetedDecidesTheLanguage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ locale, words, told, card, want string }{
		"nothing is clear":       {"", "ok", "", "", "8h0m0s Good morning!"},
		"the server's":           {"pt-BR", "ok", "", "", "8h0m0s Bom dia!"},
		"one without texts":      {"sv-SE", "ok", "", "", "8h0m0s Good morning!"},
		"the channel's":          {"pt-BR", "the weather is nice and I think we should go outside", "", "", "8h0m0s Good morning!"},
		"the person's":           {"pt-BR", "ok", "ich habe am 1. Januar Geburtstag", "", "8h0m0s Alles Gute zum Geburtstag, ANA!"},
		"by the day of the week": {"", "ok", "my birthday is this Saturday", "", "8h0m0s Happy birthday, ANA!"},
		"that the person wishes": {"pt-BR", "ok", "ich habe am 1. Januar Geburtstag", "French", "8h0m0s Joyeux anniversaire, ANA !"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := greetedIn(t, tt.locale, tt.words, "error 400\n", 9, 8*time.Hour, func(b *Bot, _ func(time.Duration, string, string), told func(string, string)) {
				if tt.told != "" {
					told("ana", tt.told)
				}
				if tt.card != "" {
					if _, err := b.Memories.SetCard(context.Background(), "ana", turn.CardLanguage, tt.card, time.Now()); err != nil {
						t.Error(err)
					}
				}
			})
			if len(got) == 0 || got[0] != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A birthday that the bot could not congratulate on in the morning is not over. A good morning is.
func TestBirthdaysAreWishedLate(t *testing.T) {
	t.Parallel()
	for told, want := range map[string][]string{"my birthday is on 1 January": {"15h0m0s Happy birthday, ANA!", "32h0m0s Good morning!"}, "I like rain": {"32h0m0s Good morning!"}} {
		got := greeted(t, "error 400\n", 9, 8*time.Hour, func(b *Bot, say func(time.Duration, string, string), tell func(string, string)) {
			tell("ana", told)
			say(30*time.Hour, "ben", "good day")
			pause := store.Switch{Place: "general", Kind: store.Answers, GuildID: "hall"}
			if err := b.Store.Settings.SwitchOff(context.Background(), pause); err != nil {
				t.Error(err)
			}
			time.AfterFunc(14*time.Hour+30*time.Minute, func() {
				if err := b.Store.Settings.SwitchOn(context.Background(), pause); err != nil {
					t.Error(err)
				}
			})
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", told, got, want)
		}
	}
}

// Only people who had their birthday remembered in the channel are greeted. The wish takes the place of the morning's greeting.
func TestBirthdays(t *testing.T) {
	t.Parallel()
	got := greeted(t, "error 400\n", 0, 0, func(b *Bot, say func(time.Duration, string, string), told func(string, string)) {
		told("ana", "my birthday is on 1 January")
		told("ana", "my birthday is on January 1st, really")
		told("cy", "mein Geburtstag ist am 1. Januar 1980")
		told("ben", "my birthday is on 3 January")
		if _, err := b.Memories.SetConsent(context.Background(), store.By{ID: "learned", At: time.Now()}, true); err != nil {
			t.Error(err)
		}
		told("learned", "the day after tomorrow is my birthday")
		told("left", "my birthday is on 1 January")
		told("out", "my birthday is on 1 January")
		told("banned", "my birthday is on 1 January")
		told("gil", "Ben's birthday is on 1 January")
		b.Gate.Access.Deny = map[string]bool{"banned": true}
		if err := b.Store.Privacy.OptOut(context.Background(), "out", true, time.Now()); err != nil {
			t.Error(err)
		}
	})
	if len(got) != 3 || got[0] != "9h0m0s Happy birthday, CY and ANA!" && got[0] != "9h0m0s Happy birthday, ANA and CY!" || got[1] != "33h0m0s Happy birthday, LEARNED!" || got[2] != "57h0m0s Happy birthday, BEN!" {
		t.Errorf("%q", got)
	}
}
