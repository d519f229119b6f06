package reply

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

const (
	// Withheld replaces a reply that held a secret.
	Withheld = "I can't post that answer: it held something that has to stay private."

	linkRemoved = "(link removed)"
	// guardRounds limits the rounds, because removing one thing may join others to a new one. Honest text needs two.
	guardRounds = 8
)

// Guard removes what a reply may not hold, and returns what it removed, by rule. It is idempotent. Allowed links are
// written <url> in canonical form, because a fragment or a tracking parameter could carry a message. In code it looks
// only for links and secrets, because everything else is shown as written.
func (r Rules) Guard(text string) (string, []turn.Guarded) {
	var found tally
	for range guardRounds {
		before := text
		if r.Secrets.Found(text) {
			break
		}
		var cleaned clean.Report
		text, cleaned = clean.Reply(text)
		for _, n := range cleaned {
			found.add("O10", n, "")
		}
		if text != before && r.Secrets.Found(text) {
			break
		}
		if text = unbadged(r.scrub(text, &found), &found); text == before {
			return text, found
		}
	}
	if r.Secrets.Found(text) {
		return Withheld, []turn.Guarded{{Rule: "O11", Count: 1}}
	}
	// Nobody nests this deeply by accident, and another round might produce anything.
	return Withheld, append(found, turn.Guarded{Rule: "O1", Count: 1, What: "nested"})
}

// tally counts what each rule removed, in order of first use.
type tally []turn.Guarded

func (t *tally) add(rule string, n int, what string) {
	i := slices.IndexFunc(*t, func(g turn.Guarded) bool { return g.Rule == rule })
	if i < 0 {
		*t = append(*t, turn.Guarded{Rule: rule, What: inertLink(what)})
		i = len(*t) - 1
	}
	(*t)[i].Count += n
}

// inertLink makes a removed text safe to show: short, and neither a link nor a mention.
func inertLink(s string) string {
	return strings.NewReplacer("://", "[:]//", ".", "[.]", "<", "‹", ">", "›", "@", "(at)").Replace(clean.Line(s, 60))
}

// scrubber is one pass through a text. Unchanged text is copied in long pieces.
type scrubber struct {
	Rules
	s      string
	i      int // next byte to look at
	copied int // s up to here is in out
	out    strings.Builder
	found  *tally

	codes    codes
	code     int // end of the current code
	sure     int // end of the code on which all readers agree
	block    int // end of the open code block in which citations stay
	tokenEnd int // end of the last link checked
}

// scrub applies the rules once; in code, only the rules for links.
func (r Rules) scrub(s string, found *tally) string {
	c := scrubber{Rules: r, s: s, found: found}
	c.codes.doubt = strings.Contains(s, "~~~") // some readers treat these as fences
	for c.i < len(s) {
		code := c.i < c.code
		switch b := s[c.i]; {
		case b == ':':
			c.colon()
		case b == '.':
			c.dot()
		case b == '<':
			c.angle()
		case b == '@' && c.i >= c.sure:
			c.everyone()
		case code:
			c.i++
		case b >= utf8.RuneSelf:
			c.cite()
		case b == '-':
			c.smallType()
		case b != '`' && b != '[' && b != '!':
			c.i++
		case b == '`':
			c.backticks()
		default:
			c.bracket()
		}
	}
	if c.copied == 0 {
		return s
	}
	c.out.WriteString(s[c.copied:])
	return c.out.String()
}

// longestPrefix limits the marks of lists and quotations before a line's small type, in bytes.
const longestPrefix = 32

// smallType removes the mark for small type from a line. Only code writes such lines, for example for sources (O8). The line may be quoted,
// in a list, or in another style.
func (c *scrubber) smallType() {
	mark := SmallType[:len(SmallType)-1]
	end := c.i + len(mark)
	if !strings.HasPrefix(c.s[c.i:], mark) || end < len(c.s) && !strings.ContainsRune(" \t\n", rune(c.s[end])) || !blankBefore(strings.TrimRight(c.s[max(0, c.i-longestPrefix):c.i], "> \t*+-.)0123456789#_~|[")) {
		c.i++
		return
	}
	for end < len(c.s) && (c.s[end] == ' ' || c.s[end] == '\t') {
		end++
	}
	c.found.add("O8", 1, "small type")
	c.replace(c.i, end, "")
}

// A badge is a sign beside words that claim to be checked or official. Only code may say so, in small type. So a model's badge loses its
// sign, in code too, where it looks even more like one.
var (
	badgeSign = text.NewLazyRegexp(`(?i)(?:(?:[✅☑✔✓🗸🛡🔒🔐🔏🔰🏅🎖🎗💠🔷🔹🔵🟢🟩🟦⭐🌟★👑💎💯🆗ℹ📢📣🔔👮]\x{FE0F}?|<?a?:\w*(?:check|tick|mark|verif|offici|certif|badge|shield|lock|trust|secur)\w*:(?:\d+>)?|\[[✓✔]\]) ?)+`)
	// claim matches a word of a badge. claimBy counts in a sentence too, shortClaim in few words alone, and sealClaim beside a shield or lock.
	claim      = text.NewLazyRegexp(`\bv[eé]rifi(?:ed|ziert|ser|er|cer|é|cad[oa]|cat[oa]|ca[cçz]i)|geverifi|weryfik(?:owan|acj)|certifi(?:ed|é|cad[oa]|cat[oa])|zertifi|gecertif|certyfik|authentifi|autentic|geprüft|проверен|подтвержд|сертифиц|doğruland|onaylan|認証|認定|確認済|検証済|认证|認證|已验证|已驗證|已核实|인증|검증|موث|معتمد|सत्यापित|प्रमाणित`)
	claimBy    = text.NewLazyRegexp(`(?:by|from|von|vom|durch|par|por|pel[oa]|da|dal|door|przez) (?:\S+ ){0,3}(?:discord|moderat|staff|admin)`)
	shortClaim = text.NewLazyRegexp(`offici|ofici|uffici|offizi|officieel|oficjal|официал|resmi|公式|官方|공식|رسمي|आधिकारिक|authenti|\btrusted(?: \S+)?$`)
	sealClaim  = text.NewLazyRegexp(`(?:confirm|protect|secur)(?:ed|é|ad[oa]|at[oa])|proteg|protett|sécuris|bestätigt|geschützt|gesichert|beveilig|bevestigd|zabezpiecz|potwierdz|защищ|korun|保護|受保护|보호`)
)

const (
	longestBadge = 42 // letters; one of a script without spaces counts as three
	shortBadge   = 32
)

func unbadged(s string, found *tally) string {
	if !badgeSign.MatchString(s) {
		return s
	}
	var out strings.Builder
	for line := range strings.SplitAfterSeq(s, "\n") {
		from, signs := 0, badgeSign.FindAllStringIndex(line, -1)
		for k, sign := range signs {
			end := len(line)
			if k+1 < len(signs) {
				end = signs[k+1][0]
			}
			before := line[from:sign[0]]
			before = before[strings.LastIndexByte(before, '|')+1:]
			behind, _, _ := strings.Cut(strings.TrimLeft(line[sign[1]:end], " |:]】"), "|")
			opening := strings.TrimRight(before, " \t>*_~#-+`[【0123456789")
			seal := strings.ContainsAny(line[sign[0]:sign[1]], "🛡🔒🔐🔏🔰")
			out.WriteString(line[from:sign[0]])
			if (opening == "" || strings.ContainsAny(opening[len(opening)-1:], ".!?:)")) && claims(behind, seal) ||
				strings.Trim(behind, " \t*_~`]\n") == "" && claims(before, seal) {
				found.add("O8", 1, "badge")
			} else {
				out.WriteString(line[sign[0]:sign[1]])
			}
			from = sign[1]
		}
		out.WriteString(line[from:])
	}
	return out.String()
}

// claims reports whether the words beside a sign are those of a badge.
func claims(words string, seal bool) bool {
	words = strings.ToLower(norm.NFKC.String(strings.TrimSpace(words)))
	opening, style := words, words[:min(2, len(words))]
	bold := style == "**" || style == "__"
	if bold { // a sentence may follow
		opening, _, _ = strings.Cut(strings.TrimLeft(words, "*_"), style)
	}
	length := 0
	letters := func(r rune) rune {
		switch {
		case r >= 0x2E80:
			length += 3
		case unicode.IsLetter(r) || unicode.IsMark(r) || r == ' ':
			length++
		default:
			return -1
		}
		return r
	}
	opening, length = strings.Map(letters, opening), 0
	words = strings.Map(letters, words)
	badge := func(words, opening string) bool {
		return claimBy.MatchString(words) || length <= shortBadge && shortClaim.MatchString(words) ||
			(bold || length <= longestBadge) && (claim.MatchString(opening) || seal && sealClaim.MatchString(opening))
	}
	return badge(words, opening) || badge(strings.Map(text.LatinLookalike, words), strings.Map(text.LatinLookalike, opening))
}

// replace replaces s[from:to] and continues after it.
func (c *scrubber) replace(from, to int, with string) {
	c.out.WriteString(c.s[c.copied:from])
	c.out.WriteString(with)
	c.i, c.copied = to, to
}

// remove replaces a link by "(link removed)" and counts the rule. It keeps the text apart from a bracket that would
// make it a link's target.
func (c *scrubber) remove(rule string, from, to int) {
	c.found.add(rule, 1, c.s[from:to])
	with := linkRemoved
	if from > 0 && c.s[from-1] == ']' {
		with = " " + with
	}
	c.replace(from, to, with)
}

// Rules for square brackets: images and labels (O3), definitions (O4), citations (O8).

var (
	definition = text.NewLazyRegexp(`^\[[^\]\n]{1,200}\]:[ \t]*(?:<?[a-zA-Z][a-zA-Z0-9+.-]*:|<?//|www\.|<?[^\s<>]+\.[a-z]{2,}/)[^\n]*\n?`)
	target     = text.NewLazyRegexp(`^\(\s*(?:<([^<>\n]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)`)
)

// longestLabel limits a link's words, in bytes.
const longestLabel = 500

func (c *scrubber) bracket() {
	open := c.i
	image := c.s[open] == '!'
	if image {
		open++
		if open == len(c.s) || c.s[open] != '[' {
			c.i++
			return
		}
	}
	if !image && lineStart(c.s[:open]) {
		if m := definition.FindString(c.s[open:]); m != "" {
			c.found.add("O4", 1, m)
			c.replace(open, open+len(m), "")
			return
		}
	}
	label, m := linkAt(c.s[open:])
	switch {
	case m != nil && image:
		c.found.add("O3", 1, c.s[c.i:open+len(label)+2+len(m[0])])
		c.replace(c.i, open+len(label)+2+len(m[0]), c.scrub(label, c.found))
	case m != nil && linkTarget.MatchString(m[1]+m[2]):
		c.labelledLink(label, m[1]+m[2], open+len(label)+2+len(m[0]))
	case image:
		c.i++ // after "!", the bracket is handled by itself
	default:
		c.cite()
	}
}

// linkTarget matches a target that may be meant as an address.
var linkTarget = text.NewLazyRegexp(`[:/.]`)

// linkAt reads "[label](target)"; m is nil if s does not start with one.
func linkAt(s string) (label string, m []string) {
	depth := 0
	for i := 0; i < min(len(s), longestLabel); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return s[1:i], target.FindStringSubmatch(s[i+1:])
			}
		}
	}
	return "", nil
}

// labelledLink checks the link [label](address) that ends at end.
func (c *scrubber) labelledLink(label, address string, end int) {
	canonical, rule := c.allow(address)
	whole := c.s[c.i:end]
	n, err := strconv.Atoi(label)
	number := err == nil && n >= 0 && n <= highest
	if number && !c.valid(n) {
		c.found.add("O8", 1, whole)
		c.replace(c.i, end, "")
		return
	}
	if rule == "" && !c.honest(label, canonical) {
		rule = "O3"
	}
	shown := c.scrub(label, c.found)
	switch {
	case rule == "" && strings.Trim(shown, " <>") == canonical:
		c.replace(c.i, end, "<"+canonical+">")
	case rule == "":
		c.replace(c.i, end, "["+shown+"](<"+canonical+">)")
	default:
		c.found.add(rule, 1, whole)
		if number {
			shown = "[" + label + "]"
		}
		c.replace(c.i, end, strings.TrimLeft(shown+" "+linkRemoved, " "))
	}
}

var domain = text.NewLazyRegexp(`^(?i)(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/\S*)?$`)

// honest reports whether a label that looks like an address equals its address, or the address's host.
func (c *scrubber) honest(label, canonical string) bool {
	label = strings.Trim(label, " <>*_`~")
	plain := strings.TrimFunc(norm.NFKC.String(label), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '/' })
	if domain.MatchString(plain) {
		claimed, err := clean.ParseURL("https://" + plain)
		actual, _ := clean.ParseURL(canonical)
		return err != nil || actual != nil && strings.TrimPrefix(claimed.Host, "www.") == strings.TrimPrefix(actual.Host, "www.")
	}
	if !strings.Contains(label, "://") {
		return true
	}
	claimed, ok := clean.Canonical(label)
	return ok && claimed == canonical
}

// dots separate the parts of a line that lists sources.
const dots = "·•∙⋅・"

// hostNamed matches a host, which is the other thing that such a line has.
var hostNamed = text.NewLazyRegexp(`[A-Za-z0-9-]\.[A-Za-z]{2,}`)

const (
	longestSource = 300 // bytes of a line that are looked at for dots
	nearHost      = 100 // bytes behind a citation that are looked at for a host
)

// listsSource reports whether the citation s[at:end] begins a part of such a line, as in "[1] Bank · bank.com". Only code lists sources. open
// means that more of the line may make it one.
func listsSource(s string, at, end int) (listed, open bool) {
	line := s[max(0, at-longestSource):at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	part := line[strings.LastIndexAny(line, dots+":：")+1:]
	part = part[len(itemStart.FindString(part)):]
	rest, _, more := strings.Cut(s[end:min(len(s), end+longestSource)], "\n")
	if strings.IndexFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
		return false, false
	}
	listed = strings.ContainsAny(line+rest, dots) || hostNamed.MatchString(rest[:min(len(rest), nearHost)])
	return listed, !listed && !more && len(rest) < longestSource
}

// highest is the highest citation number. A higher number is a year or a count.
const highest = 99

func (c *scrubber) valid(n int) bool { return n >= 1 && n <= c.Citations }

// cite writes the valid numbers of a reference as [n][m] and drops the others. In prose a number directly after a word
// is a reference too: an index such as a[0] belongs in code.
func (c *scrubber) cite() {
	end, all := clean.ReferenceAt(c.s, c.i)
	if end == 0 || c.i < c.block || slices.ContainsFunc(all, func(n int) bool { return n > highest }) {
		c.i++
		return
	}
	whole := c.s[c.i:end]
	valid, unknown := "", 0
	listed, _ := listsSource(c.s, c.i, end)
	for _, n := range all {
		if c.valid(n) && !listed {
			valid += "[" + strconv.Itoa(n) + "]"
		} else {
			unknown++
		}
	}
	if unknown > 0 || len(all) == 0 {
		c.found.add("O8", max(1, unknown), whole)
	}
	from := c.i
	if listed && end < len(c.s) && c.s[end] == ' ' {
		end++
	}
	switch {
	case valid == whole:
		c.i = end
		return
	case valid == "" && from > c.copied && c.s[from-1] == '\\':
		from--
	case valid == "" && from > c.copied && c.s[from-1] == ' ' &&
		(end == len(c.s) || strings.IndexByte(" .,;:!?)\n", c.s[end]) >= 0):
		from-- // the space before the number
	}
	c.replace(from, end, valid)
}

// lineStart reports whether the last line of before holds only the marks of a list or quotation.
func lineStart(before string) bool {
	prefix := strings.TrimRight(before[max(0, len(before)-16):], " \t>*-")
	return prefix == "" || strings.HasSuffix(prefix, "\n")
}

// codes finds code in a text read from its start. Citations in code stay, and so do mentions if all readers agree that
// it is code.
type codes struct {
	plain bool // nothing after this is treated as code
	odd   bool // readers disagree about a block
	doubt bool // readers may find other code after this
}

// at reads the backticks at s[i]. It returns where they end and where their code ends, or 0 if they begin no code. An
// unclosed block is open: it extends to the end of the text, and Split closes it.
func (c *codes) at(s string, i int) (ticks, end int, open bool) {
	run := runOf(s[i:])
	ticks = i + len(run)
	length := closing(s[ticks:], run)
	block := len(run) >= 3 && lineStart(s[:i])
	if length < 0 {
		open = block && !c.plain && !c.odd && opens(s, i, ticks)
		c.doubt = c.doubt || len(run) > 1 && !open
		c.odd = c.odd || len(run) >= 3 && !open
		return ticks, 0, open
	}
	c.odd = c.odd || len(run) >= 3 && !(blankBefore(s[:i]) && blankBefore(s[:ticks+length]) && strings.HasPrefix(s[ticks+length+len(run):min(len(s), ticks+length+len(run)+1)]+"\n", "\n"))
	// Code that is neither a block nor short and on one line may be cut. It would then not be code.
	apart := !block && (length > longestHold || strings.Contains(s[ticks:ticks+length], "\n"))
	// Discord ends a block of four backticks at the first three.
	apart = apart || len(run) > 3 && strings.Contains(s[ticks:ticks+length], "```")
	c.plain = c.plain || apart // readers disagree about where the next code begins
	escaped := i > 0 && s[i-1] == '\\'
	c.doubt = c.doubt || c.plain || escaped || len(run) >= 3 && !isBlock(s, i, ticks, ticks+length)
	if c.plain || escaped {
		return ticks, 0, false
	}
	return ticks, ticks + length + len(run), false
}

// isBlock reports whether all readers treat the code s[from:to], whose backticks begin at i, as a block. Its fences
// must be on lines of their own, outside lists and quotations.
func isBlock(s string, i, from, to int) bool {
	info, _, more := strings.Cut(s[from:to], "\n")
	return from-i == 3 && more && (i == 0 || s[i-1] == '\n') && len(info) <= longestInfo && infoWord.MatchString(info) &&
		s[to-1] == '\n' && !strings.Contains(s[from:to], "```") && strings.HasPrefix(s[to+3:min(len(s), to+4)]+"\n", "\n")
}

var infoWord = text.NewLazyRegexp(`^[A-Za-z0-9_+.#-]*$`)

// longestInfo limits the language name after a fence, in bytes. A longer one may be cut.
const longestInfo = 40

// opens reports whether all readers treat an unclosed block as a block. It must begin its line, contain code, and be
// followed by no fence of either kind.
func opens(s string, from, ticks int) bool {
	info, code, _ := strings.Cut(s[ticks:], "\n")
	return len(info) <= longestInfo && strings.TrimSpace(code) != "" && blankBefore(s[:from]) && !strings.Contains(info, "`") && !strings.Contains(code, "```") && !strings.Contains(s, "~~~")
}

// blankBefore reports whether the last line of before is blank.
func blankBefore(before string) bool {
	return strings.Trim(before[strings.LastIndexByte(before, '\n')+1:], " \t") == ""
}

// backticks records where code begins and ends. It does not skip the code. A link may go on after backticks that Discord does not treat as
// code.
func (c *scrubber) backticks() {
	ticks, end, open := c.codes.at(c.s, c.i)
	c.i = ticks
	if end > 0 {
		c.code = end
		if code := c.s[ticks:end]; !c.codes.doubt && !strings.ContainsAny(code, "*_~|") {
			c.sure = end // the marks might end an earlier style, and with it the code
		}
	}
	if open {
		c.block = len(c.s)
	}
}

// runOf returns the run of backticks that s begins with.
func runOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "`"))] }

// closing returns the index of the first run with exactly these backticks, or -1.
func closing(s, ticks string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], ticks)
		if i < 0 {
			return -1
		}
		at += i
		run := len(runOf(s[at:]))
		if run == len(ticks) {
			return at
		}
		at += run
	}
}
