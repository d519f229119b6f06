package train

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/question/past"
	"familiar/internal/text"
)

// recallFiles are the project's own messages that ask about the past of their own server. Others only look like them. Each language has a
// file. Rows of a block have one author, and neighbours in it differ only in what they ask.
//
//go:embed recalls/*.jsonl
var recallFiles embed.FS

type recallRow struct {
	Text  string
	Asks  bool
	Block int // 0: none
}

// recallShare chooses one of so many messages of the other sets. None of them asks about its server, except that people who ask each other
// sometimes do.
const recallShare = 20

// orderShare chooses one of so many orders of the memory.
const orderShare = 3

// recallTask is whether a message asks about the past of its own server.
func recallTask(messages []message) (task, error) {
	t := task{file: "question/past/recall.model", classes: []string{"other", "asks"}, penalty: 4, seldom: 2}
	files, err := recallFiles.ReadDir("recalls")
	if err != nil {
		return t, fmt.Errorf("read questions about the past: %w", err)
	}
	for _, f := range files {
		rows, err := recallFiles.ReadFile("recalls/" + f.Name())
		if err != nil {
			return t, fmt.Errorf("read questions about the past: %w", err)
		}
		for line := range bytes.Lines(rows) {
			var r recallRow
			if err := json.Unmarshal(line, &r); err != nil {
				return t, fmt.Errorf("read questions about the past in %s: %w", f.Name(), err)
			}
			t.rows = append(t.rows, example{text: r.Text, source: strings.TrimSuffix(f.Name(), path.Ext(f.Name())), block: r.Block, class: yes(r.Asks)})
		}
	}
	for _, m := range messages {
		share := uint32(recallShare)
		if m.file == "none-rooms" {
			share *= 2
		}
		if spread(m.Text)%share == 0 {
			t.rows = append(t.rows, example{text: m.Text, source: cmp.Or(m.lang, "en")})
		}
	}
	lines, err := orderLines()
	if err != nil {
		return t, err
	}
	for _, l := range lines { // an order about what is remembered asks nothing
		if l.deed != "none" && spread(l.said)%orderShare == 0 {
			t.rows = append(t.rows, example{text: l.said, source: l.language})
		}
	}
	for i := range t.rows {
		t.rows[i].features = past.Features(t.rows[i].text)
	}
	return t, nil
}

// recallFolds is the number of parts that the blocks are in.
const recallFolds = 12

// trainRecall trains the model of questions about the past. It prints what models do that have not seen the block, or the language, of a row.
func trainRecall(w io.Writer, messages []message, out string) error {
	t, err := recallTask(messages)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "recall.model: %d rows\n", len(t.rows))
	languages := map[string]int{}
	for _, r := range t.rows {
		if _, known := languages[r.source]; !known {
			languages[r.source] = len(languages)
		}
	}
	fmt.Fprintln(w, "  blocks left out:", t.unseenRecall(recallFolds, func(e example) int { return (e.block+recallFolds-1)%recallFolds - noBlock(e) }))
	fmt.Fprintln(w, "  languages left out:", t.unseenRecall(len(languages), func(e example) int { return languages[e.source] }))
	return save(w, t.train(everything), out, t.file)
}

// noBlock is more than any part for a row that is in no block.
func noBlock(e example) int { return 2 * recallFolds * yes(e.block == 0) }

// unseenRecall says how the rows of blocks are read by models that have not seen their part.
func (t task) unseenRecall(parts int, part func(example) int) string {
	models := make([]*text.Model, parts)
	var wait sync.WaitGroup
	for i := range models {
		wait.Go(func() { models[i] = t.train(func(e example) bool { return part(e) != i }) })
	}
	wait.Wait()
	var sure, asks tally
	for _, r := range t.rows {
		if r.block > 0 {
			q := past.ReadBy(models[part(r)], turn.Request{GuildID: "g", ChannelID: "c", Message: turn.Message{Text: r.text}}, time.Unix(0, 0))
			sure.add(t.classes[r.class], found(q.Asks() && !q.Maybe))
			asks.add(t.classes[r.class], found(q.Asks()))
		}
	}
	return fmt.Sprintf("surely asks %.1f, of others %.1f; may ask %.1f, of others %.1f",
		sure.part("asks", "yes"), sure.part("other", "yes"), asks.part("asks", "yes"), asks.part("other", "yes"))
}
