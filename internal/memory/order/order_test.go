package order

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	own := func(text string) Order { return Order{Deed: Keep, Text: text, Own: true} }
	note := func(text string) Order { return Order{Deed: Keep, Text: text} }
	other := func(text string) Order { return Order{Deed: Keep, Text: text, Other: true} }
	forget := func(text string) Order { return Order{Deed: Forget, Text: text} }
	correct := func(text string) Order { return Order{Deed: Correct, Text: text} }
	for _, c := range []struct {
		text string
		want Order
	}{
		{"remember that I'm vegetarian", own("I'm vegetarian")},
		{"Sage, please remember that I'm a vegetarian.", own("I'm a vegetarian")},
		{"hey sage, can you remember that I’m allergic to nuts? Thanks", own("I’m allergic to nuts")},
		{"Remember: I never eat fish!", own("I never eat fish")},
		{"remember my birthday is on 3 May please", own("my birthday is on 3 May")},
		{"Hello there. Remember I live in Graz. What is for dinner?", own("I live in Graz")},
		{"don't forget that I have a cat called Ivo", own("I have a cat called Ivo")},
		{"keep in mind that I work nights", own("I work nights")},
		{"remember that the raid starts at 8 pm on Fridays", note("the raid starts at 8 pm on Fridays")},
		{"Remember that we meet in room 12", note("we meet in room 12")},
		{"make a note that our server restarts on Sundays", note("our server restarts on Sundays")},
		{"remember that Python is banned here", note("Python is banned here")},
		{"remember that she is pregnant", other("she is pregnant")},
		{"remember that his brother owes me money", other("his brother owes me money")},
		{"remember this", Order{Deed: Keep}},
		{"Sage, remember that.", Order{Deed: Keep}},
		{"forget that I'm vegetarian", forget("I'm vegetarian")},
		{"please forget what I said about my job", forget("what I said about my job")},
		{"forget my birthday", forget("my birthday")},
		{"forget that", Order{Deed: Forget}},
		{"Forget everything you know about me", Order{Deed: Forget, All: true}},
		{"that's wrong, it's 4 May", correct("it's 4 May")},
		{"No, that is not true. I am vegan.", correct("I am vegan")},

		{"when you suggest recipes could you keep in mind I can't eat gluten", own("I can't eat gluten")},
		{"quick thing before I go, remember that my exam is on Friday", own("my exam is on Friday")},
		{"my timezone is UTC+9, make a note so you stop saying good morning", own("my timezone is UTC+9")},
		{"my dog is called Biscuit, pop that in your memory", own("my dog is called Biscuit")},
		{"one for your memory banks: I take my coffee black", own("I take my coffee black")},
		{"could you remember something for me? I'm moving to Leeds", own("I'm moving to Leeds")},
		{"remmeber that my favourite colour is teal", own("my favourite colour is teal")},
		{"I'm allergic to nuts so please keep that in mind for recipes", own("I'm allergic to nuts")},
		{"take my address out of your memory", forget("my address")},
		{"k forget the marathon thing im not running it", forget("the marathon thing")},
		{"what I said about my diet, forget it please", forget("what I said about my diet")},
		{"so about my sister... could you unremember it?", forget("my sister")},
		{"das mit meinem Hund kannst du vergessen", forget("mit meinem Hund")},
		{"togli dalla memoria la storia del motorino", forget("la storia del motorino")},
		{"我刚说的工资的事你忘了吧", forget("我刚说的工资")},
		{"c'est Maëlle, pas Maëlys, pour la dixième fois", Order{Deed: Correct, Text: "c'est Maëlle", Wrong: "Maëlys"}},
		{"nee de bordspelavond is woensdag niet dinsdag", Order{Deed: Correct, Text: "de bordspelavond is woensdag", Wrong: "dinsdag"}},

		{"merk dir, dass ich Vegetarier bin", own("ich Vegetarier bin")},
		{"Bitte merk dir: ich habe am 3. Mai Geburtstag.", own("ich habe am 3. Mai Geburtstag")},
		{"Kannst du dir merken, dass ich Nüsse nicht vertrage?", own("ich Nüsse nicht vertrage")},
		{"Vergiss nicht, dass ich morgen Urlaub habe", own("ich morgen Urlaub habe")},
		{"Merk dir, dass das Treffen um 8 beginnt", note("das Treffen um 8 beginnt")},
		{"merke dir, dass sie schwanger ist", other("sie schwanger ist")},
		{"merk dir das", Order{Deed: Keep}},
		{"vergiss, dass ich Vegetarier bin", forget("ich Vegetarier bin")},
		{"vergiss alles über mich", Order{Deed: Forget, All: true}},
		{"Das stimmt nicht, ich bin Veganerin", correct("ich bin Veganerin")},

		{"recuerda que soy vegetariano", own("soy vegetariano")},
		{"Por favor, recuerda que mi cumpleaños es el 3 de mayo", own("mi cumpleaños es el 3 de mayo")},
		{"no olvides que vivo en Lima", own("vivo en Lima")},
		{"olvida que soy vegetariano", forget("soy vegetariano")},
		{"eso no es cierto, soy vegana", correct("soy vegana")},

		{"souviens-toi que je suis végétarien", own("je suis végétarien")},
		{"retiens que la réunion est à 8 heures", note("la réunion est à 8 heures")},
		{"n'oublie pas que j'habite à Lyon", own("j'habite à Lyon")},
		{"oublie que je suis végétarien", forget("je suis végétarien")},
		{"c'est faux, je suis végane", correct("je suis végane")},

		{"lembre-se de que sou vegetariano", own("sou vegetariano")},
		{"lembra que eu moro em Recife", own("eu moro em Recife")},
		{"esquece que sou vegetariano", forget("sou vegetariano")},
		{"isso está errado, sou vegana", correct("sou vegana")},

		{"ricordati che sono vegetariano", own("sono vegetariano")},
		{"dimentica che sono vegetariano", forget("sono vegetariano")},
		{"è sbagliato, sono vegana", correct("sono vegana")},

		{"onthoud dat ik vegetariër ben", own("ik vegetariër ben")},
		{"vergeet niet dat ik in Gent woon", own("ik in Gent woon")},
		{"vergeet dat ik vegetariër ben", forget("ik vegetariër ben")},
		{"dat klopt niet, ik ben veganist", correct("ik ben veganist")},

		{"zapamiętaj, że jestem wegetarianką", own("jestem wegetarianką")},
		{"zapomnij, że jestem wegetarianką", forget("jestem wegetarianką")},
		{"to nieprawda, jestem weganką", correct("jestem weganką")},

		{"vejetaryen olduğumu unutma", own("vejetaryen olduğumu")},
		{"Lütfen vejetaryen olduğumu aklında tut.", own("vejetaryen olduğumu")},
		{"vejetaryen olduğumu unut", forget("vejetaryen olduğumu")},
		{"bu yanlış, ben veganım", correct("ben veganım")},

		{"запомни, что я вегетарианец", own("я вегетарианец")},
		{"Не забывай, что у меня аллергия на орехи", own("у меня аллергия на орехи")},
		{"забудь, что я вегетарианец", forget("я вегетарианец")},
		{"это неправда, я веган", correct("я веган")},

		{"私はベジタリアンだと覚えておいて", own("私はベジタリアンだ")},
		{"覚えておいて、私の誕生日は5月3日です", own("私の誕生日は5月3日です")},
		{"私がベジタリアンだということを忘れて", forget("私がベジタリアンだ")},
		{"それは違う、私はビーガンです", correct("私はビーガンです")},

		{"それを忘れて", Order{Deed: Forget}},
		{"私のことは全部忘れて", Order{Deed: Forget, All: true}},
		{"그거 잊어 줘", Order{Deed: Forget}},

		{"나는 채식주의자라고 기억해 줘", own("나는 채식주의자")},
		{"기억해 줘: 내 생일은 5월 3일이야", own("내 생일은 5월 3일이야")},
		{"내가 채식주의자라는 걸 잊어 줘", forget("내가 채식주의자")},
		{"그건 틀렸어, 나는 비건이야", correct("나는 비건이야")},

		{"记住我是素食者", own("我是素食者")},
		{"请记住，我的生日是5月3日。", own("我的生日是5月3日")},
		{"請記住我住在台北", own("我住在台北")},
		{"忘记我是素食者", forget("我是素食者")},
		{"那不对，我是纯素食者", correct("我是纯素食者")},
	} {
		if got, _ := Parse(c.text, []string{"Sage"}); len(got) != 1 || got[0] != c.want {
			t.Errorf("%q\n got %+v\nwant %+v", c.text, got, c.want)
		}
	}
}

// TestSeveralOrders checks messages with an order in each of several sentences.
func TestSeveralOrders(t *testing.T) {
	vegan, job, hello := Order{Deed: Keep, Text: "I'm vegan", Own: true}, Order{Deed: Forget, Text: "my job"}, Order{Deed: Keep, Text: "I live in Graz", Own: true}
	for message, want := range map[string][]Order{
		"Remember that I'm vegan. Also forget what I said about my job.":                    {vegan, job},
		"Hi Sage! Remember that I'm vegan. How are you? And please remember I live in Graz": {vegan, hello},
		"That's wrong. I'm vegan. Forget what I said about my job!":                         {{Deed: Correct, Text: "I'm vegan"}, job},
		"that's wrong, I'm vegan. remember that I live in Graz":                             {{Deed: Correct, Text: "I'm vegan"}, hello},
		"Remember that I'm vegan. Remember that I'm vegan.":                                 {vegan},
		"Remember that I'm vegan. Forget that.":                                             {vegan, {Deed: Forget}},
		"Merk dir, dass ich Veganer bin. Außerdem vergiss alles über mich.":                 {{Deed: Keep, Text: "ich Veganer bin", Own: true}, {Deed: Forget, All: true}},
		"recuerda que soy vegana. Además olvida que vivo en Lima":                           {{Deed: Keep, Text: "soy vegana", Own: true}, {Deed: Forget, Text: "vivo en Lima"}},
		"请记住我是素食者。还有，忘记我住在台北。":                                                              {{Deed: Keep, Text: "我是素食者", Own: true}, {Deed: Forget, Text: "我住在台北"}},
		"私はベジタリアンだと覚えておいて。それと、今のは忘れて。":                                                      {{Deed: Keep, Text: "私はベジタリアンだ", Own: true}, {Deed: Forget}},
	} {
		if got, _ := Parse(message, []string{"Sage"}); !slices.Equal(got, want) {
			t.Errorf("%q\n got %+v\nwant %+v", message, got, want)
		}
	}
}

// TestNoOrder checks messages that speak of memory without an order.
func TestNoOrder(t *testing.T) {
	for _, text := range strings.Split(strings.TrimSpace(`
do you remember that film?
file this please
Do you remember that I told you about the film
remember that film?
remember that film we saw in May
remember that time we got lost in Graz
Remember that one guy who is always late?
remember that French guy who is in the band
remember that weird evening, it was great
remember when I was small
remember how I broke my leg?
my gran always said remember you can't take it with you
I try and remember that I am loved
Ola, pamiętaj że jutro masz dentystę
@jonas forget about the meeting its cancelled
forget everything you know about pasta, this recipe slaps
Fix my English: I forget always my keys, remember that I am forgetful
Tom: remember that I am the boss
if it rains, remember that I left the window open
will you forget me when I leave?
never mind, forget I asked
不要忘了买牛奶吗？
牛乳買うの忘れないで
우유 사는 거 잊지 마
не забудь купить молоко
remember me?
remember me
remember my dog
remember my old car?
remember I told you about the film
Remember, I said I love it
remember that you promised me pizza
remember to breathe
remember the Alamo
remember that I told you so?
I remember that I was happy
I can't remember that I ever said so
she said: remember that I'm vegetarian
"remember that I'm vegetarian", she said
> remember that I'm vegetarian
what does "merk dir, dass ich" mean
how do I remember that I have to take my pills?
do you still remember that I'm vegetarian?
don't remember that I'm vegetarian
I don't want you to remember that I'm vegetarian
forget it
forget it, let's talk of something else
don't forget to vote
forget that noise
never forget
I forget that I'm old
did you forget that I'm vegetarian?
forget the film
that's wrong
that's wrong, isn't it?
is that wrong?
that's wrong on so many levels
that film is wrong
erinnerst du dich an den Film?
weißt du noch, dass ich dir davon erzählt habe?
merkst du, dass ich müde bin?
ich merke mir, dass ich müde bin
vergiss es
vergiss das Treffen nicht
das stimmt nicht
¿recuerdas que fuimos a Lima?
recuerdas la película
te acuerdas de esa película
tu te souviens que j'étais petit ?
je me souviens que j'étais petit
você lembra que eu morava em Recife?
ti ricordi quel film?
herinner je je die film?
pamiętasz ten film?
o filmi hatırlıyor musun?
помнишь тот фильм?
あの映画を覚えてる？
私の名前を覚えていますか？
その映画を覚えている
그 영화 기억해?
你还记得那部电影吗？
你记住我的名字了吗？
我记住了
`), "\n") {
		if got, _ := Parse(text, []string{"Sage"}); len(got) > 0 {
			t.Errorf("%q orders %+v", text, got)
		}
	}
	for _, text := range []string{"", "remember that I " + strings.Repeat("like cats and ", 60), "remember that I'm ```code```\n", "```\nremember that I'm vegetarian\n```"} {
		if got, _ := Parse(text, nil); len(got) > 0 {
			t.Errorf("%.40q orders %+v", text, got)
		}
	}
}

func TestApplyCorrection(t *testing.T) {
	for _, c := range []struct{ old, right, wrong, want string }{
		{"I live in Lisbon", "it's Porto", "Lisbon", "I live in Porto"},
		{"ich wohne in Wien", "es ist Graz", "Wien", "ich wohne in Graz"},
		{"j'habite à Nantes", "c'est Lyon", "Nantes", "j'habite à Lyon"},
		{"вечер игр в четверг", "это в пятницу", "в четверг", "вечер игр в пятницу"},
		{"İzmir'de yaşıyorum", "Bursa", "İzmir", "Bursa'de yaşıyorum"},
		{"私は大阪に住んでいる", "神戸だよ", "大阪", "私は神戸に住んでいる"},
		{"나 대구에 산다", "부산이야", "대구", "나 부산에 산다"},
		{"我住在苏州", "是杭州", "苏州", "我住在杭州"},
		{"game night is on Thursday", "game night is on Friday", "Thursday", "game night is on Friday"},
		{"my brother's name is Leo", "my brother's name is Theo", "Leo", "my brother's name is Theo"},
	} {
		if got := ApplyCorrection(c.old, c.right, c.wrong); got != c.want {
			t.Errorf("%q, corrected by %q, not %q: %q", c.old, c.right, c.wrong, got)
		}
	}
	for _, c := range []struct{ old, right, want string }{
		{"my birthday is 3 May", "it's 4 May", "my birthday is 4 May"},
		{"mein Geburtstag ist am 3. Mai", "es ist der 4. Mai", "mein Geburtstag ist der 4. Mai"},
		{"mon anniversaire est le 3 mai", "c'est le 4 mai", "mon anniversaire est le 4 mai"},
		{"mi cumpleaños es el 3 de mayo", "es el 4 de mayo", "mi cumpleaños es el 4 de mayo"},
		{"I'm vegetarian", "I'm vegan", "I'm vegan"},
		{"ich bin Vegetarier", "ich bin Veganer", "ich bin Veganer"},
		{"the raid starts at 8", "at 9", "at 9 (≠ the raid starts at 8)"},
	} {
		if got := ApplyCorrection(c.old, c.right, ""); got != c.want {
			t.Errorf("%q, corrected by %q: %q", c.old, c.right, got)
		}
	}
}

func TestAbout(t *testing.T) {
	for s, want := range map[string][2]bool{
		"I love cats": {true, false}, "the raid starts at 8": {}, "she is late": {false, true}, "ich mag Katzen": {true, false}, "私は猫が好き": {true, false},
	} {
		if own, other := About(s); own != want[0] || other != want[1] {
			t.Errorf("%q: about the speaker %v, about others %v", s, own, other)
		}
	}
}
