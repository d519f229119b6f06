package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"familiar/internal/cache"
)

// PostgreSQL keeps the words of a text as a tsvector under a GIN index. Its lexemes are what FTS5's tokenizer makes of the same words, so that
// both engines find the same rows. A lexeme begins with a letter for its column, the first "a".

// indexed are the columns of the full-text tables.
var indexed = map[string][]string{
	"message_words": {"words", "tags"},
	"memory_words":  {"words"},
	"trace_words":   {"question", "author", "said"},
}

// tokenizer asks FTS5 in a database in memory for the tokens of words, and remembers them.
type tokenizer struct {
	known *cache.LRU[string, []string]

	mu   sync.Mutex
	pool *sql.DB // one connection; guarded by mu
}

const (
	maxTokens    = 4 << 20 // bytes of remembered tokens
	longestToken = 2000    // PostgreSQL's lexemes have at most 2046 bytes
	nothing      = "\x7f"  // a lexeme that no text has
)

func newTokenizer() (*tokenizer, error) {
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1) // each connection would have a database of its own
	_, err = pool.Exec(`CREATE VIRTUAL TABLE cut USING fts5(words, content='', tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
		CREATE VIRTUAL TABLE token USING fts5vocab(cut, instance)`)
	size := func(word string, all []string) int64 { return int64(len(word)+len(strings.Join(all, ""))) + 100 }
	return &tokenizer{known: cache.NewLRU(maxTokens, size), pool: pool}, err
}

// tokens returns the tokens of a text in their order. A space always separates tokens.
func (t *tokenizer) tokens(text string) (all []string, err error) {
	for _, word := range strings.Fields(text) {
		found, ok := t.known.Get(word)
		if !ok {
			if found, err = t.cut(word); err != nil {
				return nil, fmt.Errorf("cut words: %w", err)
			}
			t.known.Set(word, found)
		}
		all = append(all, found...)
	}
	return all, nil
}

func (t *tokenizer) cut(word string) (all []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.pool.Exec(`INSERT INTO cut (rowid, words) VALUES (1, ?)`, word); err != nil {
		return nil, err
	}
	rows, err := t.pool.QueryContext(context.Background(), `SELECT term FROM token ORDER BY offset`)
	err = each(rows, err, func(row Scanner) error {
		one, err := ScanValue[string](row)
		if len(one) > longestToken {
			one = strings.ToValidUTF8(one[:longestToken], "")
		}
		all = append(all, one)
		return err
	})
	if err == nil {
		_, err = t.pool.Exec(`INSERT INTO cut (cut) VALUES ('delete-all')`)
	}
	return all, err
}

// vector returns a text as PostgreSQL reads a tsvector. Tokens consist of letters, digits and marks, so quotes suffice.
func (t *tokenizer) vector(column, text string) (string, error) {
	all, err := t.tokens(text)
	var b strings.Builder
	for n, token := range all {
		fmt.Fprintf(&b, "'%s%s':%d ", column, token, n+1)
	}
	return b.String(), err
}

// terms returns the words of a query of [AnyWord] as a JSON list of lexemes. Beginnings of words end with an asterisk.
func (t *tokenizer) terms(_, query string) (string, error) {
	list := []string{}
	for part := range strings.SplitSeq(query, " OR ") {
		all, err := t.tokens(strings.Trim(part, `"*`))
		if err != nil {
			return "", err
		}
		for _, token := range all {
			list = append(list, "a"+token+strings.Repeat("*", strings.Count(part, "*")))
		}
	}
	text, err := json.Marshal(list)
	return string(text), err
}

// query translates a query of FTS5 into one of PostgreSQL: words, phrases and beginnings in quotes, AND, OR, parentheses and filters of
// columns. Both bind AND more strongly than OR.
func (t *tokenizer) query(table, fts string) (string, error) {
	columns := indexed[table]
	every := make([]string, len(columns))
	for i := range columns {
		every[i] = string(rune('a' + i))
	}
	within := [][]string{every} // by depth of parentheses
	next := every               // columns of the next operand
	var b strings.Builder
	for rest := fts; rest != ""; {
		in := within[len(within)-1]
		switch c := rest[0]; {
		case c == '"':
			quoted, behind, _ := strings.Cut(rest[1:], `"`)
			rest = behind
			begin := strings.HasPrefix(rest, "*")
			rest = strings.TrimPrefix(rest, "*")
			phrase, err := t.phrase(next, quoted, begin)
			if err != nil {
				return "", err
			}
			b.WriteString(phrase)
			next = in
		case c == '(':
			within = append(within, next)
			b.WriteByte('(')
			rest = rest[1:]
		case c == ')' && len(within) > 1:
			within = within[:len(within)-1]
			next = within[len(within)-1]
			b.WriteByte(')')
			rest = rest[1:]
		case c == ' ' || c == ':':
			rest = rest[1:]
		default:
			word, _, _ := strings.Cut(rest, " ")
			rest = rest[len(word):]
			switch word {
			case "AND":
				b.WriteString(" & ")
			case "OR":
				b.WriteString(" | ")
			default:
				for i, name := range columns {
					if name == word {
						next = every[i : i+1]
					}
				}
			}
		}
	}
	return b.String(), nil
}

// phrase returns a query for words that follow each other in one of some columns.
func (t *tokenizer) phrase(columns []string, words string, begin bool) (string, error) {
	all, err := t.tokens(words)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "'" + nothing + "'", nil
	}
	star := ""
	if begin {
		star = ":*"
	}
	var either []string
	for _, column := range columns {
		either = append(either, "'"+column+strings.Join(all, "' <-> '"+column)+"'"+star)
	}
	return "(" + strings.Join(either, " | ") + ")", nil
}
