package websearch

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// happening is a date of something that happens to a thing once, and the thing.
type happening struct {
	event   string // cue of [once]
	when    date
	written string
	subject []word // of content, what it happened to
	manner  []word // … and between the event and the date: where, by whom, to whom
}

// once are the words for what happens to a thing a single time, by what happens. Two years of an election or a victory
// are two of them; two years of a birth contradict each other.
var once = table(map[string]string{
	"birth":      "born, birth, geboren, geburt, ne le, ne en, ne a, nee le, nee en, nee a, naissance, nacio, nacido, nacida, nacimiento, nasceu, nascido, nascida, nascimento, nato a, nato nel, nato il, nata a, nata nel, nata il, nacque, родился, родилась",
	"death":      "died, death, passed away, was killed, was executed, was assassinated, gestorben, starb, mourut, est mort, est morte, deces, murio, fallecio, fallecimiento, morreu, faleceu, morto nel, mori nel, умер, умерла, overleed",
	"founding":   "founded, founding, established, incorporated, gegrundet, grundung, fonde, fondee, fundado, fundada, fundo, fundacion, fundou, fundacao, fondato, fondata, основан, основана, основано, opgericht",
	"building":   "built, constructed, erected, erbaut, gebaut, errichtet, construit, construite, construido, construida, costruito, costruita, построен, построена, gebouwd",
	"completion": "completed, completion, finished, fertiggestellt, vollendet, acheve, achevee, terminado, terminada, completado, concluido, completato",
	"opening":    "opened, inaugurated, inauguration, eroffnet, eroffnung, inaugure, inauguree, inaugurado, inaugurada, inaugurato, inaugurata, abierto, abierta, geopend",
	"release":    "released, premiered, premiere, veroffentlicht, erschien, erschienen, paru, parue, estrenado, estrenada, lancado, uscito, uscita",
	"publishing": "published, publie, publiee, publicado, publicada, pubblicato, pubblicata",
	"invention":  "invented, patented, erfunden, invente, inventee, inventado, inventada, inventato, изобретен",
	"discovery":  "discovered, entdeckt, decouvert, decouverte, descubierto, descubierta, descoberto, scoperto, scoperta, ontdekt",
	"launch":     "launched, launch",
	"signing":    "signed, ratified, unterzeichnet, signe, signee, firmado, firmada, assinado, firmato",
	"end":        "ended, dissolved, disbanded, abolished, endete, aufgelost, abgeschafft, dissous, disuelto, termino, dissolvido, sciolto",
	"beginning":  "began, broke out, begann, commenca, comenzo, empezo, comecou, inizio nel",
	"loss":       "sank, crashed, demolished, abgerissen, gesunken",
	"wedding":    "wedding",
	"ascent":     "first climbed, first ascended, first ascent, erstbestiegen",
})

var (
	// notSo are words for what did not happen, has not yet, or happened to a part or once more.
	notSo = set("planned scheduled expected due supposed originally allegedly falsely wrongly first second third again re extension annex wing rebuilt new old if until " +
		"geplant erwartet ursprunglich angeblich erneut wieder prevu devait previsto deberia")
	// nearly are words before a date that is not the date itself.
	nearly = set("since until till before after by about around circa ca c approximately early late mid between from to through and or not over than seit bis vor nach um etwa gegen ab fruhestens spatestens depuis jusqu avant apres vers desde hasta antes despues hacia prima dopo")
	// atYear are the words before a year that is one; skipped are those before a date that say nothing.
	atYear  = set("in im en em nel of year jahr jahre annee ano anno в")
	skipped = set("in im on am at the of year jahr jahre annee ano anno en em nel le el il o der dem den du del de den spring summer autumn fall winter fruhjahr sommer herbst")
	dash    = regexp.MustCompile(`^\s*[-–—/]|[-–—/]\s*$`)
)

// happenings finds the dates of a text that are those of something that happens once.
func happenings(text string) []happening {
	if denies(text) {
		return nil
	}
	dated, rest := datesAt(text)
	var out []happening
	for _, d := range dated {
		if h, ok := happened(text, rest, d); ok {
			out = append(out, h)
		}
	}
	for _, m := range yearIn.FindAllStringIndex(rest, -1) {
		d := datedSpan{date{year: atoi(rest[m[0]:m[1]])}, span{m[0], m[1]}}
		if h, ok := happened(text, rest, d); ok {
			out = append(out, h)
		}
	}
	return out
}

// happened reads what happened at a date of the text. The rest is the text without its full dates.
func happened(text, rest string, d datedSpan) (h happening, ok bool) {
	from, to := 0, len(text)
	for _, b := range breaks.FindAllStringIndex(rest, -1) {
		switch {
		case b[1] <= d.from:
			from = b[1]
		case b[0] >= d.to:
			to = min(to, b[0])
		}
	}
	before, behind := text[from:d.from], text[d.to:to]
	if dash.MatchString(text[max(0, d.from-3):d.from]) && strings.ContainsAny(text[max(0, d.from-6):d.from], "0123456789") || dash.MatchString(text[d.to:min(len(text), d.to+3)]) {
		return h, false
	}
	words := split(before)
	last := len(words) - 1
	for last >= 0 && skipped[words[last].key] {
		last--
	}
	if last >= 0 && nearly[words[last].key] {
		return h, false
	}
	if slices.ContainsFunc(append(split(before), split(behind)...), func(w word) bool { return notSo[w.key] && !w.upper }) {
		return h, false
	}
	h = happening{when: d.date, written: text[d.from:d.to]}
	early, late := once.in(before, words), once.in(behind, split(behind))
	switch {
	case len(early) > 0:
		e := early[len(early)-1]
		h.event = e.cue
		h.subject, h.manner = content(before[:words[e.from].start]), content(before[words[e.to-1].end:])
		if byPlace[h.event] {
			h.manner = append(h.manner, content(behind)...)
		}
		if len(h.subject) == 0 {
			h.subject = content(rest[:from])
		}
		if d.month == 0 && !yearHere(words, e.to) {
			return h, false
		}
	case len(late) > 0:
		e, after := late[0], split(behind)
		h.event = e.cue
		h.subject = append(content(before), content(behind[:after[e.from].start])...)
		if d.month == 0 && !(len(words) > 0 && (atYear[words[len(words)-1].key] || auxiliaries[words[len(words)-1].key])) {
			return h, false
		}
	default:
		return h, false
	}
	h.subject = subjectOf(h.subject)
	return h, len(h.subject) > 0
}

// subjectOf keeps the words that name a thing. A number is a part of the name that it stands behind: Windows 10 is not
// Windows 11.
func subjectOf(words []word) []word {
	var out []word
	named := false
	for _, w := range words {
		if !auxiliaries[w.key] && monthNames[w.key] == 0 && (!numeric(w.key) || named) {
			out = append(out, w)
		}
		named = w.upper
	}
	return out
}

// auxiliaries stand between a thing and what happens to it.
var auxiliaries = set("was were is be been has had got wurde wurden worden ist war fut ete est fue foi stato stata werd которая который")

// yearHere says whether the number behind these words is a year: a little word says so, or the event itself stands
// before it.
func yearHere(words []word, event int) bool {
	return len(words) == event || len(words) > 0 && (atYear[words[len(words)-1].key] || seasons[words[len(words)-1].key])
}

var seasons = set("spring summer autumn fall winter fruhjahr fruhling sommer herbst")

// contradicts reports whether two happenings are the same one and cannot both be right about its date.
func (h happening) contradicts(g happening) bool {
	return h.event == g.event && h.when.clashes(g.when) && sameThing(h.subject, g.subject) && h.alongside(g)
}

// clashes reports whether two dates differ in what both of them tell.
func (d date) clashes(e date) bool {
	if d.year > 0 && e.year > 0 && d.year != e.year {
		return true
	}
	return d.month > 0 && e.month > 0 && (d.month != e.month || d.day > 0 && e.day > 0 && d.day != e.day)
}

// sameThing reports whether two phrases name the same thing: the same words, or the one a name with more before it, as
// "Everest" and "Mount Everest".
func sameThing(a, b []word) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || a[len(a)-1].key != b[len(b)-1].key {
		return false
	}
	named := len(a) == len(b)
	for _, w := range a {
		named = named || w.upper
		if !slices.ContainsFunc(b, func(o word) bool { return o.key == w.key }) {
			return false
		}
	}
	return named && !slices.ContainsFunc(b, func(w word) bool {
		return !w.upper && !slices.ContainsFunc(a, func(o word) bool { return o.key == w.key })
	})
}

// byPlace is what happens to a thing once in each place, or to each part of it.
var byPlace = map[string]bool{"release": true, "publishing": true, "opening": true, "launch": true}

// alongside reports whether the manners of two happenings go together: they share a word, or one says nothing.
func (h happening) alongside(g happening) bool {
	if len(h.manner) == 0 || len(g.manner) == 0 {
		return !byPlace[h.event] || !slices.ContainsFunc(slices.Concat(h.manner, g.manner), func(w word) bool { return w.upper })
	}
	return slices.ContainsFunc(h.manner, func(w word) bool {
		return slices.ContainsFunc(g.manner, func(o word) bool { return o.key == w.key })
	})
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // digits, as the pattern says
	return n
}
