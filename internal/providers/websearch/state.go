package websearch

import (
	"cmp"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// lookupWords are the words for a lookup's failure.
var lookupWords = map[turn.Code]string{
	turn.CodeNotConfigured: "no search service is set up", turn.CodeUnreachable: "the search service cannot be reached", turn.CodeTimeout: "the search service was too slow",
	turn.CodeRateLimited: "the search service wants fewer questions", turn.CodeQuota: "the search quota is used up", turn.CodeUnauthorized: "the search service refuses the key",
	turn.CodeForbiddenJSON: "the search service gives no JSON", turn.CodeBlocked: "the search service refuses programs", turn.CodeMalformed: "the search service answered nonsense",
	turn.CodeTooLarge: "the search service answered too much", turn.CodeRejected: "the search service refused the question", turn.CodeUpstream: "the search service has a problem of its own",
	turn.CodeUnreadable: "no page could be read", turn.CodeInternal: "internal error", turn.CodeCap: "the lookups allowed for now are used up",
	turn.CodeRoom: "what was found has no room here", turn.CodeNothingToAsk: "nothing was left to ask for that may leave",
}

// stateLine tells the model that nothing was looked up or found, and to say so. It has no word from outside.
func stateLine(l *turn.Lookup) string {
	switch l.State {
	case turn.Disabled:
		return "Web lookup: off here (" + l.Reason + "). Nothing was looked up. Where the answer needs current or exact facts, say that you cannot check them here, and do not guess."
	case turn.LookupFailed:
		return "Web lookup: failed (" + failedBy(l) + "). It was needed and could not be done, which is not the same as finding nothing. Say that you could not look it up; what you know anyway, and no message quoted here says, mark as unchecked. Name no sources."
	case turn.Empty:
		return "Web lookup: done, and nothing was found that answers the question (" + readCount(l.Pages) + "). Say that you looked and found nothing; what you know anyway, and no message quoted here says, mark as unchecked. Name no sources."
	}
	return ""
}

// failedBy returns the words for what failed, each failure of a search service once.
func failedBy(l *turn.Lookup) string {
	codes := []turn.Code{l.Failure}
	for _, a := range l.Asked {
		if l.Failure != turn.CodeUnreadable && a.Status != turn.CodeOK && a.Status != turn.CodeEmpty {
			codes = append(codes, a.Status)
		}
	}
	var words []string
	for _, code := range codes {
		words = text.AddOnce(words, cmp.Or(lookupWords[code], "error"))
	}
	return strings.Join(words, "; ")
}

// readCount returns how many pages were read: "2 of 5 pages read".
func readCount(pages []turn.Page) string {
	read, tried := countPages(pages)
	if tried == 0 {
		return "no page to read"
	}
	return strconv.Itoa(read) + " of " + strconv.Itoa(tried) + " pages read"
}

func countPages(pages []turn.Page) (read, tried int) {
	for _, p := range pages {
		switch {
		case p.Snippet(): // the page itself is listed as not read
		case p.Failure == "":
			read++
			tried++
		case p.Failure != turn.CodeSkipped && p.Reason != turn.CodeDeniedDomain:
			tried++
		}
	}
	return read, tried
}

// notReadLine lists the unread pages with reasons in one line, or returns "".
func notReadLine(pages []turn.Page) string {
	var items []string
	for _, p := range pages {
		if p.Failure != "" && p.Failure != turn.CodeSkipped {
			items = append(items, p.Site+": "+p.Why())
		}
	}
	if len(items) == 0 {
		return ""
	}
	return "[not read] " + strings.Join(items, " · ")
}

// verdictLine tells the model the verdict on a statement, and how to report it. It repeats the statement, since the
// question may have asked whether it is false.
func verdictLine(v *turn.Verdict, nonce string) string {
	of := `Fact check of "` + clean.InertLine(v.Statement, nonce) + `": `
	sides := "for it: " + numbersOf(v.For) + "; against it: " + numbersOf(v.Against)
	switch v.Label {
	case turn.VerdictSupports:
		return of + "supported (confidence " + strconv.FormatFloat(v.Confidence, 'f', 2, 64) + "; " + sides + "). Say that these sources support it, and name what speaks against it."
	case turn.VerdictContradicts:
		return of + "contradicted (confidence " + strconv.FormatFloat(v.Confidence, 'f', 2, 64) + "; " + sides + "). Say that these sources contradict it, with what they say instead."
	case turn.VerdictUnverified:
		return of + "unverified (" + sides + "). It is about a living person and the evidence is thin: say that you could not verify it, and repeat nothing of it as a fact."
	}
	return of + "inconclusive (" + sides + "). Too few independent sources settle it: call it neither true nor false, and say what each side writes."
}

// numbersOf returns the source numbers of claims: "[1][3]".
func numbersOf(claims []turn.Claim) string {
	var out string
	for _, c := range claims {
		if n := "[" + strconv.Itoa(c.Source) + "]"; c.Source > 0 && !strings.Contains(out, n) {
			out += n
		}
	}
	if out == "" {
		return "none"
	}
	return out
}
