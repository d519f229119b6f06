package need

import (
	"familiar/internal/text"
)

// The tables of cues. A row is a list of phrases, separated by commas, in several languages at once; where a
// word of one language means something else in another it stands in the language's own table, below.
// Words are written in any form: the compiler of the tables folds them as the text is folded.

// skies are words for the weather that mean something else as often: "snow white", "storm area 51", "how hot is the sun".
var skies = text.Compile(map[string]string{
	"": "tornado, tornadoes, hurricane, thunderstorm, snowstorm, storm, storms, snow, rain, wind, winds, fog, frost, clouds, hail, blizzard, sunrise, sunset, how hot, how cold, how warm, " +
		"it hot, it cold, it warm, it cool, it freezing, it chilly, be hot, be cold, be warm, be cool, be freezing, be chilly, get hot, get cold, get warm, get chilly, warmer, colder, hotter, cooler, chillier",
})

// outdoors are the words that ask for the weather without its name: "can I wear shorts today".
var outdoors = text.Compile(map[string]string{
	"": "wear, shorts, sandals, jacket, coat, sweater, umbrella, sunscreen, raincoat, boots, outside, outdoors, radar, hiking, hike, trip, picnic, beach, barbecue, bbq, walk, run, jog, bike, feel like, dress, pack, degrees, sky, sun",
})

// Topics are what changes from day to day, or is looked up by its nature. The name before the colon groups
// topics that serve the same intent.
var Topics = text.Compile(map[string]string{
	"weather": "weather, chance of rain, chance of snow, it will rain, it will snow, forecast, temperature, temperature outside, humidity, will it rain, going to rain, is it raining, is it snowing, going to snow, will it snow, rain today, rain tomorrow, " +
		"snow today, snow tomorrow, uv index, air quality, pollen, degrees outside, celsius, fahrenheit, need an umbrella, need a jacket, need a coat, need sunscreen, wear sunscreen, " +
		"snowfall, rainy, rainfall, snowy, wind speed, humid, overcast, drizzle, foggy, cold front, cloud cover, precipitation, climate in, heat wave, sunny, cloudy, chilly, freezing outside, raining, snowing, windy, what should i wear, " +
		"wetter, wettervorhersage, regnet, regnen, schneit, schneien, regenschirm, meteo, quel temps, pleuvoir, pleut, neiger, parapluie, clima, tiempo en, tiempo hace, paraguas, nevar, o tempo em, esta o tempo, guarda-chuva, tempo em, tempo no, tempo na, pronostico, llover, previsao do tempo, chover, che tempo, piove, weer in, weerbericht, " +
		"погода, погоду, прогноз погоды, дождь, зонт, снег, pogoda, hava durumu, 雨が, 雪が, 天気, 天气, 天氣, 気温, 气温, 날씨, อากาศ",
	"money": "stock, stock price, share price, stocks, nasdaq, dow jones, s&p, market cap, exchange rate, currency, conversion rate, usd, eur, gbp, dollars, euros, yen, rupees, pesos, pounds in, bitcoin, btc, ethereum, eth, crypto, " +
		"interest rate, inflation, mortgage rates, gas prices, oil price, gold price, net worth, salary, gdp, box office, unemployment rate, value of, worth in, " +
		"aktienkurs, wechselkurs, borsenkurs, cours de l'action, taux de change, precio del dolar, tipo de cambio, cotacao, tasso di cambio, курс доллара, курс евро, курс, 株価, 股价, 汇率, 為替, 환율, 주가",
	"price": "price, prices, cost of, how much does, how much is, how much are, how much would, cheapest, for sale, buy, preis, kostet, kosten, prix, combien coute, precio, cuanto cuesta, cuanto vale, preco, quanto custa, quanto costa, prezzo, цена, сколько стоит, 価格, いくら, 价格, 多少钱, 가격",
	"news":  "news, headline, headlines, developments, recent developments, announcement, announcements, latest updates, latest on, articles about, articles on, article about, press release, newspaper, journalist, hackernews, hacker news, breaking, current events, happening in the world, going on in the world, what happened, what is happening, what is going on in, latest on, update on, nachrichten, neues aus, neues von, neuigkeiten, schlagzeilen, actualite, actualites, nouvelles de, noticias, notizie, nieuws, новости, wiadomosci, haberler, ニュース, 新闻, 新聞, 뉴스",
	"sport": "score of, final score, who won, who is winning, standings, league table, playoff, playoffs, super bowl, world cup, world series, champions league, premier league, olympics, olympic, grand prix, nba, nfl, mlb, nhl, fifa, uefa, tournament, championship, wer hat gewonnen, qui a gagne, quien gano, quem ganhou, chi ha vinto, кто выиграл, счет матча, 試合結果, 比分",
	"travel": "flight status, flight, airline, airport, traffic, train times, train schedule, timetable, bus schedule, next train, next bus, visa, travel advisory, travel alert, travel to, travel warning, carry on, baggage, luggage, vaccine, vaccination, vaccines, shots, tourist, attractions, sightseeing, things to do, places to visit, activities in, hotel, hotels, plug type, outlet, plug adapter, " +
		"road closure, congestion, commute, construction on, directions to, route to, nearest, nearby, near me, closest, in town, around town, in my area, around here, in the area, open now, opening hours, opening times, business hours, " +
		"verkehr, zug nach, bahnhof, fahrplan, stau, horaires, horario, horarios, vol, train pour, vuelo, voo, treno, orari, расписание, рейс, пробки, 時刻表, 航班",
	"food":    "recipe, recipes, how to cook, how to bake, how to make, how do i make, how do you make, how do i cook, how do you cook, ingredients, calorie, calories, nutrition, nutritional, protein in, restaurant, restaurants, place to eat, places to eat, good places, dinner tonight, good food, rezept, recette, receta, receita, ricetta, рецепт, レシピ, 食谱, 레시피",
	"culture": "movie, movies, film, theater, theatre, showtimes, playing at, box set, tv show, tv series, episode, season, album, released, release date, premiere, concert, concerts, festival, event, events, circus, exhibition, tickets, trailer, lyrics, sequel, soundtrack, novel, bestseller, reviews, review, rating, ratings, rated, highest rated, imdb",
	"state":   "population, capital of, president of, prime minister, ceo, governor, mayor, king of, queen of, chancellor, senator, election, elections, parliament, congress, law, laws, supreme court, president, population of, border, countries, country, area code, zip code, bevolkerung, hauptstadt, prasident, bundeskanzler, premier ministre, president de, capitale, capital de, presidente, primer ministro, président, президент, столица, население, 人口, 首都, 大統領, 总统, 总理, 大统领, 대통령, 인구, 수도",
	"person":  "biography, born, died, married, net worth of, ceo of, founder of, inventor, invented, discovered, author of, wrote, directed, directed by, actor, actress, singer, played by, starred, starring, occupation, profession, spouse, childhood of, age of, geboren, gestorben, ne en, nacio, murio, nasceu, morreu, nato, родился, умер",
	"media":   "gif, gifs, meme, memes, image of, images, an image, picture of, pictures, a picture, photo of, photos, photograph, wallpaper, video of, videos, clip of, footage, infographic, illustration, clipart, stock photo",
	"subject": "tell me about, tell us about, explain, describe, information on, information about, facts about, learn about, know about, erklare, erzahl mir von, explique, parle-moi de, explica, hablame de, spiega, расскажи о, объясни",
	"define":  "define, definition, meaning of, what does, stand for, stands for, synonym, etymology, bedeutet, definicion, signifie, significa, что такое, что значит, とは, 什么意思",
	"version": "latest version, current version, newest version, new version, changelog, release notes, released version, patch notes, lts, stable release, end of life, eol, cve, security advisory, latest release, neueste version, derniere version, ultima version, последняя версия, 最新版",
	"science": "how far is, how far away, how tall is, how high is, how deep is, how old is the, how long is the, how big is, how fast is, tallest, largest, biggest, longest, deepest, fastest, oldest, richest, most expensive, most popular, most famous, best selling, world record, located, founded, established, named after, origin of, come from, came from, history of, symptoms, causes of, cure for, side effects",
})

// Times are cues that the present counts.
var Times = text.Compile(map[string]string{
	"now":   "right now, now, currently, current, at the moment, as of, live, so far, still alive, these days, nowadays, at present, up to date, jetzt, aktuell, aktuelle, aktuellen, derzeit, momentan, gerade, maintenant, actuellement, actuel, ahora, actual, actualmente, agora, atual, atualmente, adesso, attuale, attualmente, nu, huidige, сейчас, текущий, teraz, simdi, 今, 現在, 现在, 目前, 지금, 현재",
	"day":   "today, today's, tonight, this morning, this evening, this afternoon, tomorrow, yesterday, last night, heute, morgen, gestern, heute abend, aujourd'hui, demain, hier soir, ce soir, hoy, manana, ayer, esta noche, hoje, amanha, ontem, oggi, domani, ieri, vandaag, сегодня, завтра, вчера, dzisiaj, jutro, bugun, yarin, 今日, 明日, 昨日, 今天, 明天, 昨天, 오늘, 내일, 어제",
	"week":  "this week, next week, last week, this weekend, next weekend, weekend, diese woche, wochenende, cette semaine, ce week-end, esta semana, fin de semana, questa settimana, на этой неделе, 今週, 这周, 本周, 이번 주",
	"month": "this month, last month, next month, latest, newest, recent, recently, lately, just announced, most recent, upcoming, trending, neueste, neuesten, neuster, letzte, letzten, kurzlich, dernier, derniere, derniers, dernieres, recemment, ultimo, ultima, ultimos, ultimas, reciente, recientemente, recente, recentemente, laatste, последний, последние, последняя, najnowszy, najnowsze, en son, 最新, 最近, 최신, 최근",
	"year":  "this year, last year, next year, this season, next season, dieses jahr, cette annee, este ano, este año, quest'anno, в этом году, 今年, 올해",
})

// checks are cues of a doubt that sources can settle.
var checks = text.Compile(map[string]string{
	"factcheck": "is it a fact, is this real, is that real, is it true, is that true, is this true, true or false, true that, fact check, factcheck, real or fake, is it real, debunk, debunked, hoax, myth, rumor that, rumour that, did they really, is there evidence, any evidence, verify that, verify whether, verify if, can you verify, is it confirmed, confirmed that, misinformation, fake news, urban legend, " +
		"stimmt es, stimmt das, ist es wahr, est-ce vrai, est-il vrai, c'est vrai que, es verdad, es cierto, e verdade, e vero, правда ли, is het waar, czy to prawda, 本当ですか, 真的吗, 是真的吗, 사실인가",
})

// Orders are plain orders to look something up, and plain orders not to.
var Orders = text.Compile(map[string]string{
	"search": "search, look up, look it up, look that up, look this up, search for, search the web, search online, search the internet, search up, do a search, web search, google, google it, google for, find online, find out online, check online, check the web, check the internet, browse for, " +
		"such nach, suche nach, suche im internet, such mal, google mal, schlag nach, schau nach, recherchiere, cherche sur, recherche sur, cherche sur internet, busca en, buscar en, busca en internet, buscame, googlea, pesquise, pesquisa sobre, procure por, procura na internet, cerca su, cerca online, zoek op, zoek naar, найди в интернете, поищи, загугли, погугли, wyszukaj, poszukaj, internette ara, 検索して, 調べて, ググって, 搜索, 搜一下, 查一下, 查查, 검색해, 찾아봐",
	"dont": "do not search, do not google, do not look it up, do not look this up, do not look that up, do not look anything up, do not look up anything, do not look online, do not need to search, no need to search, no need to look, no need to google, without searching, without looking it up, without looking anything up, without googling, no searching, no googling, no web search, no lookup, " +
		"nicht suchen, nicht googeln, such nicht, suche nicht, google nicht, ohne zu suchen, ohne suche, ne cherche pas, ne recherche pas, sans chercher, sans recherche, no busques, no buscar, sin buscar, nao pesquise, nao procure, sem pesquisar, non cercare, senza cercare, niet zoeken, zoek niet, не ищи, не гугли, без поиска, nie szukaj, arama yapma, 検索しないで, 調べないで, 不要搜索, 别搜, 不用查, 검색하지 마",
	"aside": "no search, no web, without the web, without web search, without the internet, offline only, from memory, off the top of your head, nicht im internet, ohne internet, aus dem kopf, aus dem gedachtnis, sans internet, de memoire, sin internet, de memoria, sem internet, senza internet, a memoria, без интернета, по памяти",
})

// Against are what the web has no part in.
var Against = text.Compile(map[string]string{
	"device": "alarm, timer, stopwatch, snooze, reminder, reminders, remind me, remember to, to do list, todo list, my to do, shopping list, grocery list, my list, my lists, this list, the list, a list, new list, chore list, my calendar, the calendar, my schedule, schedule for today, todays schedule, appointment, my meeting, meeting with, meetings today, playlist, shuffle, " +
		"volume, louder, quieter, mute, unmute, the lights, lights off, lights on, light off, light on, lamp, light bulb, thermostat, vacuum cleaner, roomba, robot vacuum, wemo, smart plug, smart socket, plug off, plug socket, the oven, brightness, bluetooth, turn on, turn off, turn up, turn down, turn it, switch on, switch off, switch to, switch the, set the, set my, " +
		"next song, this song, that song, song is this, song is playing, song playing, currently playing, playing right now, next track, my phone, phone call, my email, email to, emails from, new email, inbox, my contacts, contact list, my status, cup of coffee, make me coffee, coffee machine, sync, my device, factory settings, your settings, settings, whisper, your voice, accent, talk faster, talk slower, speak faster, speak slower, at ac, the ac, " +
		"wecker, erinnere mich, licht an, licht aus, mach das licht, reveil, rappelle-moi, alarma, recuerdame, lembre-me, despertador, sveglia, ricordami, будильник, напомни, включи, выключи",
	"clock":  "what time is it, what time it is, what the time, the time in, the time, time is it, time in, time zone, timezone, time difference, what day is it, what day it is, what day is today, what day are we, which day is it, day of the week, what is the date, what date is it, the date, what is today, what today is, current day, current date, current time, the day now, todays date, today's date, tomorrow's date, date of today, date of tomorrow, date today, date tomorrow, wie spat, uhrzeit, welcher tag ist, quelle heure, que hora, que horas, que ore, che ora, который час, 何時ですか, 今何時, 几点了, 몇 시",
	"sums":   "plus, minus, divided by, divide, multiply, multiplied by, square root, cube root, percent of, subtract, factorial, divisible, how many inches, how many feet, how many centimeters, how many cups, how many ounces, how many tablespoons, how many teaspoons, how many pounds are, in kilograms, solve, equation, calculate the, conversion between, centimeters to, inches to, feet to, kilometers to, miles to, ounces to, cups to, pounds to, celsius to, fahrenheit to, geteilt durch",
	"chance": "flip a coin, flip coin, coin toss, toss a coin, roll a, roll the, dice, heads or tails, random number, pick a number, muenze, wurfel",
	"speech": "translate, translation, how do you say, how do i say, how would i say, how would you say, how would they say, how can i say, how to say, how do they say, word for, spell, how is it spelled, correct spelling, how do you pronounce, ubersetze, wie sagt man, traduis, traduce, traducir, como se dice, traduza, traduci, come si dice, переведи, 翻訳, 翻译",
	"make":   "joke, jokes, riddle, write a, write me, write an, write some, a poem, haiku, a story about, tell me a story, make up, limerick, song about, an essay, rap about, imagine, pretend, roleplay, role play, make me laugh, something funny, rewrite, rephrase, proofread, brainstorm, witz, gedicht, blague, poeme, chiste, poema, piada, barzelletta, анекдот, шутка, стих",
	"smalltalk": "hello, hi, hey there, good morning, good night, good evening, good afternoon, goodbye, good bye, bye, see you, see ya, later, take care, thank you, thank, thanks, thanks for, cheers, appreciate, appreciated, nice to meet, how are you, how are things, how is it going, how is your, how was your day, how do you do, what is up, sup, welcome, congratulations, well done, good job, great job, nice job, good work, excellent work, excellent, awesome, sorry, my bad, lol, lmao, haha, yes, yeah, yep, yup, yea, ok, okay, sure, no, nope, nah, maybe, perhaps, agreed, exactly, of course, never mind, nevermind, does not matter, do not care, no idea, not sure, i guess, you are right, that is right, that is wrong, correct, incorrect, true, false, wrong, stop, shut up, be quiet, hush, wait, hold on, repeat, say that again, say it again, one more time, come again, again, pardon, got it, i see, clarify, elaborate, " +
		"hallo, guten morgen, gute nacht, guten tag, danke, tschuss, wie geht, bonjour, salut, merci, au revoir, ca va, comment vas, hola, buenos dias, buenas noches, gracias, adios, como estas, ola, bom dia, boa noite, obrigado, obrigada, tchau, tudo bem, ciao, buongiorno, grazie, arrivederci, come stai, hoi, dank je, привет, спасибо, пока, как дела, czesc, dziekuje, merhaba, tesekkurler, こんにちは, おはよう, ありがとう, おやすみ, 元気, 你好, 谢谢, 早上好, 晚安, 再见, 안녕, 고마워, 감사",
	"opinion": "what do you think, do you think, do you like, do you love, do you hate, do you prefer, do you enjoy, do you feel, do you believe, do you want, do you have, do you know me, do you dream, would you rather, your favorite, your favourite, favorite, favourite, your opinion, how do you feel, meaning of life, purpose of life, point of life, was denkst du, magst du, was haltst du, qu'en penses-tu, tu aimes, que piensas, te gusta, o que voce acha, voce gosta, cosa ne pensi, ti piace, что ты думаешь, ты любишь, тебе нравится, 好きですか, どう思う, 你喜欢, 你觉得, 어떻게 생각",
})

// Openings are the words a question for facts begins with, by language; "" serves all of them.
var Openings = map[string]text.Phrases{
	"en": text.Compile(map[string]string{
		"wh":  "who, what, when, where, which, whose, whom, why, how, how many, how much, how old, how tall, how far, how long, how often, how come, in what, in which, on what, on which, at what, at which, for what, for which, of which, to what, from what, from which, by what, by whom, during which, since when, name the, the name of",
		"aux": "is, are, was, were, did, does, do, has, have, had, can, could, will, would, should, may, am, is there, are there",
		"get": "find, find me, send me, find out, get me, give me, show me, show, list the, name, search, tell me about, tell me, explain, describe, define, recommend, suggest, check, compare, let me know, information on, information about, info on, details on, details about, any, i want to know, i need to know, i would like to know, i want, i need, i would like, read me, inform me, pull up, bring up, summarize, summarise, read, help me",
	}),
	"de": text.Compile(map[string]string{"wh": "wer, was, wann, wo, wohin, woher, welche, welcher, welches, welchen, warum, wieso, wie, wie viel, wie viele, wie alt, wie hoch, wie weit, wessen, wem", "aux": "ist, sind, war, waren, hat, haben, wird, gibt es, kann, soll", "get": "finde, zeig mir, erklare, erzahl mir, nenne, gib mir, sag mir, suche"}),
	"fr": text.Compile(map[string]string{"wh": "qui, que, quoi, quand, ou, quel, quelle, quels, quelles, pourquoi, comment, combien, qu'est-ce, qu'est ce, c'est quoi, a quelle, en quelle, dans quel", "aux": "est-ce que, est-ce, est, sont, a-t-il, y a-t-il", "get": "trouve, donne-moi, montre-moi, explique, parle-moi, dis-moi, cherche"}),
	"es": text.Compile(map[string]string{"wh": "quien, quienes, que, cual, cuales, cuando, donde, por que, como, cuanto, cuanta, cuantos, cuantas, en que, a que, de que", "aux": "es, son, fue, hay, esta, va a", "get": "busca, dime, explica, muestrame, encuentra, dame"}),
	"pt": text.Compile(map[string]string{"wh": "quem, qual, quais, quando, onde, por que, como, quanto, quanta, quantos, quantas, o que, que, em que", "aux": "e, sao, foi, ha, vai", "get": "busque, diga, explique, mostre, encontre, me diga, me fale"}),
	"it": text.Compile(map[string]string{"wh": "chi, che, cosa, che cosa, quale, quali, quando, dove, perche, come, quanto, quanta, quanti, quante", "aux": "e, sono, era, c'e, ci sono", "get": "trova, dimmi, spiega, mostrami, cerca"}),
	"nl": text.Compile(map[string]string{"wh": "wie, wat, wanneer, waar, welke, welk, waarom, hoe, hoeveel", "aux": "is, zijn, was, heeft, zal", "get": "vind, vertel, leg uit, toon"}),
	"ru": text.Compile(map[string]string{"wh": "кто, что, когда, где, куда, откуда, какой, какая, какое, какие, почему, зачем, как, сколько, чей, в каком", "aux": "есть ли, будет ли, правда ли", "get": "найди, расскажи, объясни, покажи, назови, скажи"}),
	"pl": text.Compile(map[string]string{"wh": "kto, co, kiedy, gdzie, ktory, ktora, jaki, jaka, jakie, dlaczego, jak, ile", "aux": "czy, jest", "get": "znajdz, powiedz, wyjasnij"}),
	"tr": text.Compile(map[string]string{"wh": "kim, ne, ne zaman, nerede, hangi, neden, nasil, kac", "get": "bul, soyle, acikla"}),
	"":   text.Compile(map[string]string{"wh": "誰, 何, いつ, どこ, なぜ, どうして, いくつ, 谁, 誰, 什么, 什麼, 何时, 哪里, 哪裡, 哪个, 为什么, 怎么, 多少, 几个, 누구, 무엇, 언제, 어디, 왜, 몇, 얼마, ใคร, อะไร, เมื่อไหร่, ที่ไหน", "get": "教えて, 作り方, やり方, 仕方, 告诉我, 알려줘"}),
}

// Leads are polite beginnings that hide how a question begins.
var Leads = text.Compile(map[string]string{
	"lead": "please, can you, could you, would you, will you, can you please, could you please, would you please, can we, any chance, so, and, but, well, also, then, ok so, okay so, um, uh, hmm, hey, hi, hello, yo, ok, okay, oh, actually, btw, by the way, question, quick question, just curious, i need you to, i want you to, i would like you to, help me find out, help me find, can i ask, " +
		"bitte, kannst du, konntest du, s'il te plait, peux-tu, por favor, puedes, per favore, puoi, пожалуйста, а, lutfen",
	"ask": "can you tell me, could you tell me, would you tell me, can you please tell me, could you please tell me, will you tell me, please tell me, tell me, do you know, do you happen to know, would you know, any idea, does anyone know, anyone know, does anybody know, anybody know, i wonder, i was wondering, i am wondering, i want you to tell me, i want to know, i need to know, i would like to know, i would love to know, i need you to tell me, let me know, can i know, may i know, can anyone tell me, what do you know about, wondering, i am looking for, looking for, i am curious, " +
		"kannst du mir sagen, weisst du, weißt du, sag mal, tu sais, sais-tu, dis-moi, puedes decirme, sabes, dime, voce sabe, me diga, pode me dizer, sai, sai dirmi, dimmi, weet je, скажи, ты знаешь, подскажи",
})

// commands are the verbs that begin an order to a device, or to the bot itself.
var commands = text.Compile(map[string]string{
	"get":    "send me, get me, open the website, open the page",
	"device": "play, set, turn, switch, add, remove, delete, erase, cancel, clear, put, create, start, stop, pause, resume, skip, remind, call, dial, phone, text, email, send, reply, tweet, post, mute, unmute, raise, lower, increase, decrease, dim, save, schedule, change, reset, sync, connect, disconnect, pair, update, wake, speak, talk, whisper, sing, complain, file a complaint, like, subscribe, clean, brew, repeat, rephrase, say, make it, make a, make the, make me, take, keep, confirm, go to, move, open, close, order, buy, book, mark, insert, include, forget, spiele, stelle, schalte, joue, mets, allume, pon, apaga, enciende, toque, liga, desliga, metti, accendi, spegni, поставь",
})

// Persons are the words for the two who talk, which a question for facts does without.
var Persons = text.Compile(map[string]string{
	"you": "you, your, yours, yourself, du, dein, deine, dir, dich, tu, toi, ton, ta, tes, te, tus, tuo, tua, voce, seu, sua, jij, jouw, ты, тебя, тебе, твой, твоя, 君, あなた, 你, 너, 당신",
	"me":  "my, mine, do i have, have i, did i, am i, i have, should i do, myself, mein, meine, meinen, mon, ma, mes, mi, mis, meu, minha, mio, mia, mijn, мой, моя, мои, 我的, 私の, 내",
	"i":   "i, we, our, ich, mich, mir, wir, je, moi, nous, yo, nosotros, eu, io, ik, wij, я, мне, мы",
})

// The words of questions that do not stand at their beginning.
var (
	conditions     = text.Set("if when in on at for with from during after before since while given")
	inverted       = text.Compile(map[string]string{"aux": "would i, will i, do i, can i, should i, could i, must i, is it, is there, are there, does it, will it, is the, are the, does the, did the, was the, were the, will the"})
	interrogatives = text.Compile(map[string]string{"wh": "how is, how are, how did, how do, how many, how much, how was, what is, what are, what was, what did, what does, who is, who was, who did, where is, where was, where did, when did, when was, when is, which is, which was, why did, why is"})
	prepositions   = text.Set("in on at for with from of to by as is was are were called")
)
