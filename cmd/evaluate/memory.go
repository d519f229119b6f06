package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/providers/recall"
	"familiar/internal/store"
)

// memoryRow is a question about a conversation, asked after its last message.
type memoryRow struct {
	ID, Conversation, Question string
}

// memoryMessage is a line of a conversation.
type memoryMessage struct {
	ID      string
	Session int
	At      time.Time
	Speaker string
	Text    string
}

// betweenMessages is the time between the messages of a session. The rows give all of them the same date.
const betweenMessages = 20 * time.Second

// recaller predicts {"rank", "sessions"} through the recall of a turn. Each conversation is a channel in a store of its own, and the
// questions are asked in that channel.
type recaller struct {
	folder   string // of the stores
	name     string // of the open conversation
	db       *store.DB
	memories *memory.Store
	messages []memoryMessage
	people   []string
}

// openMemory makes a recaller. Rows of one conversation are consecutive. The store of the previous conversation is closed and removed.
func openMemory() predictor {
	r := &recaller{}
	return func(ctx context.Context, files fs.FS, line []byte) (prediction, error) {
		var row memoryRow
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("read row: %w", err)
		}
		if row.Conversation != r.name {
			if r.folder == "" {
				atEnd(ctx, func() { r.close() })
			}
			if err := errors.Join(r.close(), r.open(ctx, files, row.Conversation)); err != nil {
				return nil, err
			}
		}
		return r.recall(ctx, row)
	}
}

func (r *recaller) close() error {
	if r.db == nil {
		return nil
	}
	err := r.db.Close()
	r.db, r.name = nil, ""
	return errors.Join(err, os.RemoveAll(r.folder))
}

// open saves a conversation to a store.
func (r *recaller) open(ctx context.Context, files fs.FS, name string) (err error) {
	if r.messages, err = readConversation(files, name); err != nil {
		return err
	}
	if r.folder, err = os.MkdirTemp("", "evaluate-memory-"); err != nil {
		return err
	}
	if r.db, err = store.Open(ctx, r.folder); err != nil {
		return err
	}
	r.memories = memory.New(r.db)
	if err = r.memories.Start(ctx); err != nil {
		return err
	}
	r.name, r.people = name, nil
	all := make([]store.Message, len(r.messages))
	begun, n := r.messages[0].Session, 0
	for i, m := range r.messages {
		if n++; m.Session != begun {
			begun, n = m.Session, 0
		}
		all[i] = store.Message{
			ID: fmt.Sprintf("%08d", i), ChannelID: "channel", GuildID: "server", AuthorID: m.Speaker, AuthorName: m.Speaker,
			Text: m.Text, At: m.At.Add(time.Duration(n) * betweenMessages),
		}
		if !slices.Contains(r.people, m.Speaker) {
			r.people = append(r.people, m.Speaker)
		}
	}
	return r.db.Messages.Save(ctx, all...)
}

func readConversation(files fs.FS, name string) (all []memoryMessage, err error) {
	file, err := files.Open("conversations/" + name + ".jsonl")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxRow)
	for lines.Scan() {
		var m memoryMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("read conversation %s: %w", name, err)
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		err = fmt.Errorf("conversation %s is empty", name)
	}
	return all, errors.Join(lines.Err(), err)
}

// mostRanked limits the messages in a prediction.
const mostRanked = 50

// recall asks, a day after the last message.
func (r *recaller) recall(ctx context.Context, row memoryRow) (prediction, error) {
	now := r.messages[len(r.messages)-1].At.AddDate(0, 0, 1)
	p := &recall.MemoryProvider{Past: &recall.Past{Store: r.db, Memories: r.memories, Servers: &recall.Servers{Platform: openServer{}}, Now: func() time.Time { return now }}}
	req := request(row.ID, row.Question)
	req.GuildID, req.ChannelID, req.People = "server", "channel", r.people
	req.Message.ID, req.Message.At, req.Message.Author = "question", now, turn.Author{ID: "somebody", Name: "somebody"}
	found, err := p.Recall(ctx, req)
	if err != nil {
		return nil, err
	}
	of := func(id string) memoryMessage {
		n, _ := strconv.Atoi(id) // ids come from open
		return r.messages[n]
	}
	rank, sessions, session := []string{}, []int{}, map[int]int{}
	for _, h := range found {
		m := of(h.ID)
		session[h.Session] = m.Session
		if len(rank) < mostRanked {
			rank = append(rank, m.ID)
		}
	}
	for _, number := range rankSessions(found) {
		sessions = append(sessions, session[number])
	}
	return prediction{"rank": rank, "sessions": sessions}, nil
}

const (
	// bestOfSession is the number of messages that count for a session.
	bestOfSession = 5
	// sessionSlope lowers the score of long sessions, because they contain good messages by chance.
	sessionSlope = 0.3
)

// rankSessions returns the numbers of the sessions, ordered by the odds of their best messages. Their sum is divided by a power of the
// session's length. The hits are in order, the best first.
func rankSessions(hits []recall.Hit) []int {
	scores, sizes, ends := map[int]float64{}, map[int]int{}, map[int]time.Time{}
	for _, h := range hits {
		if sizes[h.Session]++; sizes[h.Session] <= bestOfSession {
			scores[h.Session] += math.Exp(h.Score - hits[0].Score)
		}
		if h.At.After(ends[h.Session]) {
			ends[h.Session] = h.At
		}
	}
	for n, size := range sizes {
		scores[n] /= math.Pow(float64(size), sessionSlope)
	}
	return slices.SortedFunc(maps.Keys(sizes), func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), ends[b].Compare(ends[a]), cmp.Compare(a, b))
	})
}

// openServer is a platform with one channel that everybody may read.
type openServer struct{ recall.Platform }

func (openServer) Readable(context.Context, string, turn.Reader, string, ...string) map[string]bool {
	return map[string]bool{"channel": true}
}
