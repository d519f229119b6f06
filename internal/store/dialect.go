package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"familiar/internal/cache"
)

// The queries are SQLite's. PostgreSQL gets them through a driver around its own, which says otherwise what PostgreSQL says otherwise.

// phrases are what SQLite and PostgreSQL call by different names, the longer ones first. ?1 is the first parameter. LEXEMES_a(?) is a text as
// words of the first column, MATCH_t(?) a query of the full-text table t, and TERMS_t(?) its words.
var phrases = strings.NewReplacer(
	insertMessage, insertMessage+` RETURNING rowid`, // for LastInsertId
	`INSERT INTO record_parts (body) VALUES (?)`, `INSERT INTO record_parts (body) VALUES (?) RETURNING id`,
	indexMessage, `INSERT INTO message_words (rowid, words) VALUES (?1, LEXEMES_a(?2) || LEXEMES_b(?3)) ON CONFLICT (rowid) DO UPDATE SET words = excluded.words`,
	unindexMessage, `DELETE FROM message_words WHERE rowid = ?1`,
	rebuildRecords, `DELETE FROM trace_words`,
	emptyMessages, `DELETE FROM message_words`,
	`INSERT INTO memory_words (rowid, words) VALUES (?, ?)`, `INSERT INTO memory_words (rowid, words, size)
		SELECT CAST(?1 AS BIGINT), w, (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(w) u) FROM (SELECT LEXEMES_a(?2) AS w) v`,
	`INSERT INTO memory_words (memory_words, rowid, words) VALUES ('delete', ?, ?)`, `DELETE FROM memory_words WHERE rowid = ?1`,
	`INSERT INTO memory_words (memory_words) VALUES ('delete-all')`, `DELETE FROM memory_words`,
	`SELECT rowid AS id, rank AS score FROM memory_words WHERE memory_words MATCH ?`, rankedMemories,
	`INSERT INTO trace_words (rowid, question, author, said) VALUES (?, ?, ?, ?)`,
	`INSERT INTO trace_words (rowid, words) VALUES (?, LEXEMES_a(?) || LEXEMES_b(?) || LEXEMES_c(?)) ON CONFLICT DO NOTHING`,
	`w.trace_words MATCH ?`, `w.words @@ MATCH_trace_words(?)`,
	`memory_words MATCH ?`, `words @@ MATCH_memory_words(?)`,
	`trace_words MATCH ?`, `words @@ MATCH_trace_words(?)`,
	`message_words MATCH ?`, `words @@ MATCH_message_words(?)`,
	`CROSS JOIN traces t ON `, `JOIN traces t ON `,
	`CROSS JOIN messages ON `, `JOIN messages ON `,
	`CROSS JOIN messages m ON `, `JOIN messages m ON `,
	AmongThese, `= ANY (ARRAY(SELECT json_array_elements_text(CAST(? AS json))))`,
	`json_each(?)`, `(SELECT value, key FROM json_array_elements_text(CAST(? AS json)) WITH ORDINALITY AS j (value, key)) AS list`,
	`json_each(?2)`, `(SELECT value, key FROM json_array_elements_text(CAST(?2 AS json)) WITH ORDINALITY AS j (value, key)) AS list`,
	`coalesce(p.body, o.body, t.record)`, `coalesce(p.body, o.body, convert_to(t.record, 'UTF8'))`,
	`json_group_array(at_row)`, `coalesce(json_agg(at_row), '[]')`,
	`CAST(coalesce(group_concat(vector, ''), '') AS BLOB)`, `coalesce(string_agg(vector, ''), '')`,
	`group_concat(`, `string_agg(`,
	`char(10)`, `chr(10)`,
	`instr(`, `strpos(`,
	`max(0, `, `greatest(0, `,
	`max(privacy.forgotten, `, `greatest(privacy.forgotten, `,
	`max(watermarks.active, `, `greatest(watermarks.active, `,
)

// rankedMemories computes the rank of FTS5, BM25: https://sqlite.org/fts5.html#the_bm25_function
const rankedMemories = `SELECT id, -sum(greatest(ln(CAST((of - holding + 0.5) / (holding + 0.5) AS DOUBLE PRECISION)), 0.000001) * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * size / mean))) AS score
	FROM (SELECT w.rowid AS id, w.size, of, mean, count(*) OVER (PARTITION BY n) AS holding,
		(SELECT sum(cardinality(u.positions)) FROM unnest(w.words) u WHERE u.lexeme = word OR begins AND starts_with(u.lexeme, word)) AS times
		FROM (SELECT n, rtrim(value, '*') AS word, right(value, 1) = '*' AS begins FROM json_array_elements_text(CAST(TERMS_memory_words(?) AS json)) WITH ORDINALITY AS j (value, n)) asked
		JOIN memory_words w ON w.words @@ CAST('''' || word || '''' || CASE WHEN begins THEN ':*' ELSE '' END AS tsquery)
		CROSS JOIN (SELECT count(*) AS of, CAST(avg(size) AS DOUBLE PRECISION) AS mean FROM memory_words) whole) held GROUP BY id`

// argument is a parameter of a translated statement.
type argument struct {
	of      driver.NamedValue // its ordinal or its name in the original
	convert func(what, text string) (string, error)
	what    string // for convert
}

type translated struct {
	text string
	args []argument
}

// translator turns statements of SQLite into those of PostgreSQL.
type translator struct {
	words *tokenizer
	done  sync.Map // translated statements by their original
}

// tokenOf finds literals, and parameters with what is made of them.
var tokenOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`'[^']*'|(LEXEMES|MATCH|TERMS)_([a-z_]+)\(\?(\d*)\)|\?(\d*)|@([a-z]+)`)
})

func (t *translator) translate(query string) *translated {
	if found, ok := t.done.Load(query); ok {
		return found.(*translated)
	}
	done := &translated{}
	seen := map[driver.NamedValue]int{}
	bare := 0
	parameter := func(number, name string, a argument) string {
		switch {
		case name != "":
			a.of.Name = name
		case number != "":
			a.of.Ordinal, _ = strconv.Atoi(number)
		default:
			bare++
			a.of.Ordinal = bare
		}
		n, ok := seen[a.of]
		if !ok {
			done.args = append(done.args, a)
			n = len(done.args)
			seen[a.of] = n
		}
		return "$" + strconv.Itoa(n)
	}
	done.text = replaceAll(tokenOf(), phrases.Replace(query), func(m []string) string {
		switch m[1] {
		case "LEXEMES":
			return "CAST(CAST(" + parameter(m[3], "", argument{convert: t.words.vector, what: m[2]}) + " AS TEXT) AS tsvector)"
		case "MATCH":
			return "CAST(CAST(" + parameter(m[3], "", argument{convert: t.words.query, what: m[2]}) + " AS TEXT) AS tsquery)"
		case "TERMS":
			return "CAST(" + parameter(m[3], "", argument{convert: t.words.terms, what: m[2]}) + " AS TEXT)"
		}
		if m[0][0] == '\'' {
			return m[0]
		}
		return parameter(m[4], m[5], argument{})
	})
	t.done.Store(query, done)
	return done
}

// replaceAll replaces the matches of an expression by what a function makes of their groups.
func replaceAll(e *regexp.Regexp, s string, replace func(groups []string) string) string {
	return e.ReplaceAllStringFunc(s, func(match string) string { return replace(e.FindStringSubmatch(match)) })
}

// bind returns the parameters of a translated statement, and which are bytes.
func (d *translated) bind(given []driver.NamedValue) (values [][]byte, formats []int16, err error) {
	values, formats = make([][]byte, len(d.args)), make([]int16, len(d.args))
	for i, a := range d.args {
		at := slices.IndexFunc(given, func(g driver.NamedValue) bool {
			return a.of.Name != "" && g.Name == a.of.Name || a.of.Name == "" && g.Ordinal == a.of.Ordinal
		})
		if at < 0 {
			return nil, nil, fmt.Errorf("parameter %d of a statement is missing", i+1)
		}
		value := given[at].Value
		if text, ok := value.(string); ok {
			if a.convert != nil {
				value, err = a.convert(a.what, text)
			} else { // a text of PostgreSQL holds neither
				value = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
			}
		}
		if err == nil {
			values[i], formats[i], err = encode(value)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return values, formats, nil
}

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
