package train

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"familiar/internal/context/turn"
	"familiar/internal/linear"
	"familiar/internal/question"
)

// validateMessages prints what a lookup would do with each message, using models that have not seen it. The scorers of the sets would give
// the same figures, with each fifth of the messages held back in turn.
func validateMessages(w io.Writer, messages []message) {
	all := messageTasks(messages)
	fmt.Fprintf(w, "need.model, intent.model, multilingual.model, english.model: %d, %d, %d and %d rows\n",
		len(all.need.rows), len(all.intent.rows), len(all.multilingual.rows), len(all.english.rows))
	var r report
	for i := range folds {
		models := all.train(outside(i))
		for _, m := range messages {
			if Fold(m.Text) == i {
				r.add(models, m)
			}
		}
	}
	r.print(w)
}

// validateSources prints what a lookup would do with each source, using models trained on the others, as it will with a new source. Each
// language counts as one.
func validateSources(w io.Writer, messages []message) {
	all := messageTasks(messages)
	sources := map[string]bool{}
	for _, m := range messages {
		sources[m.source()] = true
	}
	fmt.Fprintln(w, "  each source by models of the others")
	for _, source := range slices.Sorted(maps.Keys(sources)) {
		var r report
		models := all.train(without(source))
		for _, m := range messages {
			if m.source() == source {
				r.add(models, m)
			}
		}
		r.line(w, source)
	}
}

// tasks are those of the models that decide about a message.
type tasks struct{ need, intent, multilingual, english task }

func messageTasks(messages []message) tasks {
	return tasks{needTask(messages), intentTask(messages), multilingualTask(messages), englishTask(messages)}
}

// train trains the models concurrently.
func (t tasks) train(include func(example) bool) question.Models {
	var m question.Models
	var wait sync.WaitGroup
	for of, t := range map[**linear.Model]task{&m.Need: t.need, &m.Intent: t.intent, &m.Multilingual: t.multilingual, &m.English: t.english} {
		wait.Go(func() { *of = t.train(include) })
	}
	wait.Wait()
	return m
}

// report counts predictions for unseen messages.
type report struct {
	need, ownNeed     tally             // "look" and "stay"
	intent, ownIntent tally             // of all classes; "none" if nothing is looked up
	groups            map[string]*tally // "look" and "stay" by group of needs-search

	languages map[string]*spokenTally // by language of our own messages, except English
}

// spokenTally counts decisions about messages in one language.
type spokenTally struct {
	need   tally
	intent tally // of those that should be looked up
}

func (r *report) addSpoken(language, want, decision, intent string) {
	if r.languages == nil {
		r.languages = map[string]*spokenTally{}
	}
	if r.languages[language] == nil {
		r.languages[language] = &spokenTally{}
	}
	t := r.languages[language]
	t.need.add(stayOrLook(want != "none"), decision)
	if want != "none" {
		t.intent.add(want, intent)
	}
}

func (r *report) add(models question.Models, m message) {
	decision, intent := "stay", "none"
	if look, what := question.Predict(models, m.Text); look {
		decision, intent = "look", InSet(what)
	}
	if m.foreign() {
		r.addSpoken(m.lang, m.Intent, decision, intent)
		return
	}
	if m.own() {
		r.ownNeed.add(stayOrLook(m.Intent != "none"), decision)
		r.ownIntent.add(m.Intent, intent)
		return
	}
	if m.Intent != "" {
		r.intent.add(m.Intent, intent)
	}
	if m.Cls == "" {
		return
	}
	group := m.source()
	if m.Label != nil {
		group += " " + stayOrLook(*m.Label == 1)
		if m.source() != "metatool" {
			r.need.add(stayOrLook(*m.Label == 1), decision)
		}
	}
	if smallTalk[m.Cls] || strings.HasPrefix(m.Cls, "hwu-general_") {
		group = m.source() + " small talk"
	}
	if r.groups == nil {
		r.groups = map[string]*tally{}
	}
	if r.groups[group] == nil {
		r.groups[group] = &tally{}
	}
	r.groups[group].add(decision, decision)
}

func stayOrLook(look bool) string {
	if look {
		return "look"
	}
	return "stay"
}

// InSet returns an intent in the words of the set intent.
func InSet(intent turn.Intent) string {
	switch intent {
	case turn.IntentImage, turn.IntentVideo:
		return "media"
	case turn.IntentForum, turn.IntentDocs, turn.IntentFactCheck:
		return "general"
	}
	return string(intent)
}

// smallTalk are the classes of small talk in CLINC150.
var smallTalk = map[string]bool{
	"clinc-are_you_a_bot": true, "clinc-do_you_have_pets": true, "clinc-goodbye": true, "clinc-greeting": true, "clinc-how_old_are_you": true,
	"clinc-maybe": true, "clinc-meaning_of_life": true, "clinc-no": true, "clinc-tell_joke": true, "clinc-thank_you": true,
	"clinc-what_are_your_hobbies": true, "clinc-what_can_i_ask_you": true, "clinc-what_is_your_name": true,
	"clinc-where_are_you_from": true, "clinc-who_do_you_work_for": true, "clinc-who_made_you": true, "clinc-yes": true,
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "  needs-search: balanced accuracy %.1f (look %.1f, stay %.1f)\n", r.need.balanced(), r.need.recall("look"), r.need.recall("stay"))
	for _, group := range slices.Sorted(maps.Keys(r.groups)) {
		fmt.Fprintf(w, "    fires on %-20s %5.1f\n", group, r.groups[group].share("look"))
	}
	fmt.Fprintf(w, "  intent: macro-F1 %.1f (right %.1f)\n", r.intent.macroF1(), r.intent.right())
	for _, class := range r.intent.classes() {
		fmt.Fprintf(w, "    %-20s F1 %.1f, recall %.1f\n", class, r.intent.f1(class), r.intent.recall(class))
	}
	fmt.Fprintf(w, "  own messages: need %.1f (look %.1f, stay %.1f), intent macro-F1 %.1f\n",
		r.ownNeed.balanced(), r.ownNeed.recall("look"), r.ownNeed.recall("stay"), r.ownIntent.macroF1())
	r.printLanguages(w)
}

// printLanguages prints a line for each language of our own messages except English, and the means.
func (r *report) printLanguages(w io.Writer) {
	var need, intent float64
	for _, code := range slices.Sorted(maps.Keys(r.languages)) {
		t := r.languages[code]
		need, intent = need+t.need.balanced(), intent+t.intent.right()
		fmt.Fprintf(w, "    %s: need %.1f (look %.1f, stay %.1f), right intent of what is to be looked up %.1f\n",
			code, t.need.balanced(), t.need.recall("look"), t.need.recall("stay"), t.intent.right())
	}
	if n := float64(len(r.languages)); n > 0 {
		fmt.Fprintf(w, "  other languages: need %.1f, intent %.1f\n", need/n, intent/n)
	}
}

// line writes the figures in a line: how often messages are rightly looked up or not, and how often their intents are right.
func (r *report) line(w io.Writer, source string) {
	if len(r.languages) > 0 {
		r.printLanguages(w)
		return
	}
	fmt.Fprintf(w, "    %-12s", source)
	if t := r.groups["irc"]; t != nil {
		fmt.Fprintf(w, " fires on %.1f", t.share("look"))
	}
	for _, t := range []*tally{&r.need, &r.intent, &r.ownNeed, &r.ownIntent} {
		for _, class := range t.classes() {
			fmt.Fprintf(w, " %s %.1f", class, t.recall(class))
		}
	}
	fmt.Fprintln(w)
}

// tally counts right classes and predicted classes.
type tally struct {
	pairs           map[[2]string]int // by the right class and the predicted one
	gold, predicted map[string]int
}

func (t *tally) add(want, got string) {
	if t.pairs == nil {
		t.pairs, t.gold, t.predicted = map[[2]string]int{}, map[string]int{}, map[string]int{}
	}
	t.pairs[[2]string{want, got}]++
	t.gold[want]++
	t.predicted[got]++
}

func (t *tally) classes() []string { return slices.Sorted(maps.Keys(t.gold)) }

// The figures are percentages. recall is that of one class; balanced is the mean of all recalls.
func (t *tally) recall(class string) float64 {
	return t.part(class, class)
}

func (t *tally) f1(class string) float64 {
	return 200 * float64(t.pairs[[2]string{class, class}]) / float64(max(t.gold[class]+t.predicted[class], 1))
}

func (t *tally) right() float64 {
	right, all := 0, 0
	for class, n := range t.gold {
		right += t.pairs[[2]string{class, class}]
		all += n
	}
	return 100 * float64(right) / float64(max(all, 1))
}

func (t *tally) balanced() float64 { return t.mean(t.recall) }
func (t *tally) macroF1() float64  { return t.mean(t.f1) }

func (t *tally) mean(of func(class string) float64) float64 {
	sum := 0.0
	for class := range t.gold {
		sum += of(class)
	}
	return sum / float64(max(len(t.gold), 1))
}

// share returns how often a class was predicted, in percent.
func (t *tally) share(class string) float64 {
	all := 0
	for _, n := range t.predicted {
		all += n
	}
	return 100 * float64(t.predicted[class]) / float64(max(all, 1))
}

// part returns how often rows of one class were predicted as another, in percent.
func (t *tally) part(class, predicted string) float64 {
	return 100 * float64(t.pairs[[2]string{class, predicted}]) / float64(max(t.gold[class], 1))
}
