package train

import (
	"embed"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/memory/order"
	"familiar/internal/text"
)

// orderFiles are messages that order something of the memory, and some that only look like it. Each language has a file. A line is a deed
// and a message. The text of the order is in braces, and ⏎ is a new line. Neighbours are often alike. The rows of a writer follow a comment.
//
//go:embed orders/*.txt
var orderFiles embed.FS

// orderNames are the bot's names in these messages.
var orderNames = []string{"Familiar", "Sage"}

const (
	orderBlock  = 12 // neighbours that are left out together
	plainShare  = 20 // one of so many own messages is added as one that orders nothing
	readPenalty = 0.5
	readSeldom  = 3
	readWriters = 5 // features that fewer writers have are left out, because they describe those
	orderRounds = 300
	orderLevels = 32
)

// orderTask is what a message orders of the memory. Questions about the past order nothing. An example's source is its language; its text is the number of its block, or empty.
func orderTask() (task, error) {
	t := task{file: "memory/order/orders.model", classes: order.Classes, penalty: readPenalty, levels: orderLevels, rounds: orderRounds, seldom: readSeldom}
	add := func(l orderLine, class int) {
		if features := merged(order.Features(l.said, orderNames)); len(features) > 0 {
			t.rows = append(t.rows, example{text: l.block, source: l.language, features: features, class: class, block: l.writer})
		}
	}
	lines, err := orderLines()
	if err != nil {
		return t, err
	}
	for _, l := range lines {
		add(l, slices.Index(t.classes, l.deed))
	}
	recalls, err := recallTask(nil)
	if err != nil {
		return t, err
	}
	for _, r := range recalls.rows {
		if r.class == yes(true) || !order.MayHold(r.text) {
			add(orderLine{language: r.source, said: r.text}, 0)
		}
	}
	err = readOwn(func(m message) {
		if spread(m.Text)%plainShare == 0 && !order.MayHold(m.Text) {
			add(orderLine{language: m.lang, said: m.Text}, 0)
		}
	})
	t.keepShared(readWriters)
	return t, err
}

// keepShared leaves out the features that fewer writers have. Rows of no writer count as one's.
func (t *task) keepShared(writers int) {
	have := map[string]map[int]bool{}
	for _, r := range t.rows {
		for _, f := range r.features {
			if have[f.Name] == nil {
				have[f.Name] = map[int]bool{}
			}
			have[f.Name][r.block] = true
		}
	}
	for i, r := range t.rows {
		t.rows[i].features = slices.DeleteFunc(r.features, func(f text.Feature) bool { return len(have[f.Name]) < writers })
	}
}

// orderLine is a message with what it orders. said is the text of the order, if it has one.
type orderLine struct {
	language, block, deed, said, text string
	writer                            int
}

func orderLines() (all []orderLine, err error) {
	files, err := orderFiles.ReadDir("orders")
	if err != nil {
		return nil, fmt.Errorf("read orders: %w", err)
	}
	for _, f := range files {
		file, err := orderFiles.ReadFile(path.Join("orders", f.Name()))
		if err != nil {
			return nil, fmt.Errorf("read orders: %w", err)
		}
		n, writer := 0, 1
		for line := range strings.Lines(string(file)) {
			if strings.HasPrefix(line, "#") {
				writer++
				continue
			}
			deed, said, _ := strings.Cut(strings.TrimSpace(line), ": ")
			said = strings.ReplaceAll(said, "⏎", "\n")
			if !slices.Contains(order.Classes, deed) {
				return nil, fmt.Errorf("read orders %s: unknown deed %q", f.Name(), deed)
			}
			l := orderLine{strings.TrimSuffix(f.Name(), ".txt"), strconv.Itoa(n / orderBlock % folds), deed, said, "", writer}
			if deed != order.Classes[0] {
				_, rest, _ := strings.Cut(said, "{")
				l.text, _, _ = strings.Cut(rest, "}")
				l.said = strings.NewReplacer("{", "", "}", "").Replace(said)
			}
			all = append(all, l)
			n++
		}
	}
	return all, nil
}

// merged adds up the values of features with the same name.
func merged(all []text.Feature) (once []text.Feature) {
	at := map[string]int{}
	for _, f := range all {
		i, is := at[f.Name]
		if !is {
			i = len(once)
			at[f.Name] = i
			once = append(once, text.Feature{Name: f.Name})
		}
		once[i].Value += f.Value
	}
	return once
}

// trainOrders trains the model of orders. It prints what models make of messages that they have not seen. Writers, blocks and languages
// were left out.
func trainOrders(w io.Writer, out string) error {
	t, err := orderTask()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "orders.model: %d rows\n", len(t.rows))
	for _, unseen := range []struct {
		name string
		part func(example) string
	}{{"writers", func(e example) string { return strconv.Itoa(e.block) }}, {"blocks", func(e example) string { return e.text }}, {"languages", func(e example) string { return e.source }}} {
		t.leaveOut(w, unseen.name, unseen.part)
	}
	if err := save(w, t.train(everything), out, t.file); err != nil {
		return err
	}
	spans, err := readSpans()
	if err != nil {
		return err
	}
	return save(w, trainSpans(spans, spanPenalty, spanSeldom), out, "memory/order/spans.model")
}

// leaveOut prints what becomes of the rows of each part with a model of the others.
func (t task) leaveOut(w io.Writer, name string, part func(example) string) {
	models := map[string]*text.Model{}
	all, byLanguage := &orderTally{}, map[string]*orderTally{}
	for _, e := range t.rows {
		if e.text == "" {
			continue
		}
		m := learned(&models, part(e), func() *text.Model {
			return t.train(func(other example) bool { return part(other) != part(e) })
		})
		deed, sure, doubt := order.Decide(m.Classify(e.features))
		if byLanguage[e.source] == nil {
			byLanguage[e.source] = &orderTally{}
		}
		all.add(e.class, deed, sure, doubt != order.NoDoubt)
		byLanguage[e.source].add(e.class, deed, sure, doubt != order.NoDoubt)
	}
	for _, language := range slices.Sorted(maps.Keys(byLanguage)) {
		fmt.Fprintf(w, "    %s: %s\n", language, byLanguage[language])
	}
	fmt.Fprintf(w, "  unseen %s: %s\n", name, all)
}

// orderTally counts what becomes of messages.
type orderTally struct{ orders, right, wrong, asked, others, obeyed, doubted int }

func (o *orderTally) add(class, deed int, sure, doubt bool) {
	switch {
	case class == 0:
		o.others++
		o.obeyed += yes(sure)
		o.doubted += yes(!sure && doubt)
		return
	case sure && deed == class:
		o.right++
	case sure:
		o.wrong++
	case doubt:
		o.asked++
	}
	o.orders++
}

func (o *orderTally) String() string {
	part := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	return fmt.Sprintf("%d orders: sure %.1f, wrong deed %.1f, in doubt %.1f; %d others: obeyed %.1f, in doubt %.1f", o.orders, part(o.right, o.orders),
		part(o.wrong, o.orders), part(o.asked, o.orders), o.others, part(o.obeyed, o.others), part(o.doubted, o.others))
}
