package train

import (
	"maps"
	"slices"
	"sync"

	"familiar/internal/context/turn"
	"familiar/internal/question"
	"familiar/internal/text"
)

// tasks are those of the models that decide about a message.
type tasks struct{ need, intent, multilingual, english task }

func messageTasks(messages []message) tasks {
	all := tasks{needTask(messages), intentTask(messages), multilingualTask(messages), englishTask(messages)}
	for _, t := range []*task{&all.need, &all.intent, &all.multilingual, &all.english} {
		t.whole = &whole{} // most sources are in two of them
	}
	return all
}

// train trains the models concurrently.
func (t tasks) train(include func(example) bool) question.Models {
	var m question.Models
	var wait sync.WaitGroup
	for of, t := range map[**text.Model]task{&m.Need: t.need, &m.Intent: t.intent, &m.Multilingual: t.multilingual, &m.English: t.english} {
		wait.Go(func() { *of = t.train(include) })
	}
	wait.Wait()
	return m
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
