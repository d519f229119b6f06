package engine

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
)

// The statements are SQLite's. After the phrases of a [Schema], LEXEMES_a(?) is a text as words of the first column of a full-text table,
// MATCH_t(?) a query of the full-text table t, and TERMS_t(?) its words.

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
	phrases *strings.Replacer
	words   *tokenizer
	done    sync.Map // translated statements by their original
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
	done.text = replaceAll(tokenOf(), t.phrases.Replace(query), func(m []string) string {
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

// tokenizer asks FTS5 in a database in memory for the tokens of words, and remembers them.
type tokenizer struct {
	indexed map[string][]string // columns of the full-text tables

	mu    sync.Mutex
	pool  *sql.DB             // one connection; guarded by mu
	known map[string][]string // by word; guarded by mu
}

const (
	maxKnown     = 20_000 // words; then all are forgotten
	longestKnown = 50     // bytes of a word that is remembered
	longestToken = 2000   // PostgreSQL's lexemes have at most 2046 bytes
	nothing      = "\x7f" // a lexeme that no text has
)

func newTokenizer(indexed map[string][]string) (*tokenizer, error) {
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1) // each connection would have a database of its own
	_, err = pool.Exec(`CREATE VIRTUAL TABLE cut USING fts5(words, content='', tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
		CREATE VIRTUAL TABLE token USING fts5vocab(cut, instance)`)
	return &tokenizer{indexed: indexed, pool: pool, known: map[string][]string{}}, err
}

// tokens returns the tokens of a text in their order. A space always separates tokens.
func (t *tokenizer) tokens(text string) (all []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, word := range strings.Fields(text) {
		found, ok := t.known[word]
		if !ok {
			if found, err = t.cut(word); err != nil {
				return nil, fmt.Errorf("cut words: %w", err)
			}
			if len(t.known) >= maxKnown {
				clear(t.known)
			}
			if len(word) <= longestKnown {
				t.known[word] = found
			}
		}
		all = append(all, found...)
	}
	return all, nil
}

// cut asks FTS5. The caller holds mu.
func (t *tokenizer) cut(word string) ([]string, error) {
	if _, err := t.pool.Exec(`INSERT INTO cut (rowid, words) VALUES (1, ?)`, word); err != nil {
		return nil, err
	}
	all, err := texts(t.pool.QueryContext(context.Background(), `SELECT term FROM token ORDER BY offset`))
	for i, one := range all {
		if len(one) > longestToken {
			all[i] = strings.ToValidUTF8(one[:longestToken], "")
		}
	}
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

// query translates a query of FTS5 into one of PostgreSQL. It has words, phrases and beginnings in quotes, AND, OR, parentheses and filters
// of columns. Both bind AND more strongly than OR.
func (t *tokenizer) query(table, fts string) (string, error) {
	columns := t.indexed[table]
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
