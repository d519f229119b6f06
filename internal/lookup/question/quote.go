package question

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// quotation are the pairs of marks that stand around the exact words of something.
var quotation = regexp.MustCompile(`"([^"\n]*)"|“([^”“„\n]*)[”“]|„([^“”„\n]*)[“”]|«([^»\n]*)»|»([^«\n]*)«|「([^」\n]*)」|『([^』\n]*)』`)

const maxQuoted = 80 // characters

// quoted gives exact words the quotation marks that search services know, and takes all others out.
func quoted(s string) string {
	const mark = "\x00"
	s = quotation.ReplaceAllStringFunc(s, func(m string) string {
		_, size := utf8.DecodeRuneInString(m)
		_, last := utf8.DecodeLastRuneInString(m)
		inside := strings.Trim(m[size:len(m)-last], " ?!.,;:")
		if inside == "" || utf8.RuneCountInString(inside) > maxQuoted {
			return " " + inside + " "
		}
		return mark + inside + mark
	})
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"“”„«»「」『』", r) {
			return ' '
		}
		return r
	}, s)
	return text.OneLine(strings.ReplaceAll(s, mark, `"`))
}

// balanced drops a mark that lost its fellow, and marks around nothing.
func balanced(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, `""`, " "), `" "`, " ")
	if strings.Count(s, `"`)%2 == 1 {
		i := strings.LastIndexByte(s, '"')
		s = s[:i] + " " + s[i+1:]
	}
	return text.OneLine(s)
}

// works are the words before a title, which is then searched for exactly.
var works = text.Set(lang.All().Query.Works)

// called may stand between such a word and the title.
var called = text.Set(lang.All().Query.TitleLinks)

// quotedTitles puts quotation marks around a title of several words that follows what kind of work it is.
func quotedTitles(s string) string {
	words := text.Words(s)
	for i := range words {
		if !works[words[i].Key] {
			continue
		}
		from := i + 1
		for from < len(words) && called[words[from].Key] && !words[from].Upper {
			from++
		}
		to := titleEnd(words, from)
		if to-from < 2 || strings.Contains(s[words[i].End:words[to-1].End], `"`) || strings.Count(s[:words[i].End], `"`)%2 == 1 {
			continue
		}
		return s[:words[from].Start] + `"` + s[words[from].Start:words[to-1].End] + `"` + s[words[to-1].End:]
	}
	return s
}

// titleEnd returns where the run of capitalised words that begins at from ends; small words may stand in it.
func titleEnd(words []text.Word, from int) int {
	if from >= len(words) || !words[from].Upper {
		return from
	}
	end := from + 1
	for i := end; i < len(words) && i < from+10; i++ {
		switch {
		case words[i].Upper || text.Numeric(words[i].Key):
			end = i + 1
		case !text.StopWords[words[i].Key]:
			return end
		}
	}
	return end
}
