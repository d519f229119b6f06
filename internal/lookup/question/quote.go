package question

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
)

// quotation are the pairs of marks that stand around the exact words of something.
var quotation = regexp.MustCompile(`"([^"\n]*)"|“([^”“„\n]*)[”“]|„([^“”„\n]*)[“”]|«([^»\n]*)»|»([^«\n]*)«|「([^」\n]*)」|『([^』\n]*)』`)

const maxQuoted = 80 // characters

// straightQuotes puts exact words into the quotation marks that search services know, and takes all other marks out.
func straightQuotes(s string) string {
	const quote = "\x00"
	s = quotation.ReplaceAllStringFunc(s, func(m string) string {
		_, first := utf8.DecodeRuneInString(m)
		_, last := utf8.DecodeLastRuneInString(m)
		inside := strings.Trim(m[first:len(m)-last], " ?!.,;:")
		if inside == "" || utf8.RuneCountInString(inside) > maxQuoted {
			return " " + inside + " "
		}
		return quote + inside + quote
	})
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"“”„«»「」『』", r) {
			return ' '
		}
		return r
	}, s)
	return text.OneLine(strings.ReplaceAll(s, quote, `"`))
}

// balanceQuotes drops a quotation mark that lost its partner, and marks around nothing.
func balanceQuotes(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, `""`, " "), `" "`, " ")
	if strings.Count(s, `"`)%2 == 1 {
		i := strings.LastIndexByte(s, '"')
		s = s[:i] + " " + s[i+1:]
	}
	return text.OneLine(s)
}

// quoteTitles puts quotation marks around a title of several words that follows what kind of work it is.
func quoteTitles(s string) string {
	words := text.Words(s)
	for i, work := range words {
		if !works[work.Key] {
			continue
		}
		from := i + 1
		for from < len(words) && titleLinks[words[from].Key] && !words[from].Upper {
			from++
		}
		to := titleEnd(words, from)
		if to-from < 2 {
			continue
		}
		start, end := words[from].Start, words[to-1].End
		if quoted := strings.Contains(s[work.End:end], `"`) || strings.Count(s[:work.End], `"`)%2 == 1; !quoted {
			return s[:start] + `"` + s[start:end] + `"` + s[end:]
		}
	}
	return s
}

// titleEnd returns the end of the run of capitalised words that begins at from. It may hold stop words and numbers.
func titleEnd(words []text.Word, from int) int {
	end := from
	for i := from; i < len(words) && i < from+10; i++ {
		switch w := words[i]; {
		case w.Upper || i > from && text.Numeric(w.Key):
			end = i + 1
		case i == from || !text.StopWords[w.Key]:
			return end
		}
	}
	return end
}
