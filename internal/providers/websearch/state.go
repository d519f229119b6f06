package websearch

import (
	"cmp"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
)

// failureWords are the words for a page's failure, by reason first and by code where the reason has none. All of
// it is ours: what a model or a person reads about a failure never comes from the far end.
var failureWords = map[turn.Code]string{
	"denied_domain": "not allowed by the operator", "no_pages": "pages are not read here", "outside_site": "not a page of this site", "not_there": "no such page", "robots": "robots disallow", "challenge": "wants proof of a human reader",
	"dns": "name not found", "tls": "no acceptable certificate", "connect": "no connection", "transport": "connection broke",
	"rate_limited": "asks to come back later", "too_many_redirects": "too many redirects", "redirect_to_blocked_target": "leads to a forbidden address",
	"redirect_to_http": "leads from https to http", "deadline": "too slow", "quorum": "not needed, others were read", "canceled": "stopped",
	"denied_address": "forbidden address", "invalid_target": "not a public page", "denied_host": "not a public page", "denied_port": "not a public page",
	"javascript_required": "needs JavaScript", "empty": "no text", "bad_charset": "unknown encoding", "unparsable": "not readable", "panic": "not readable",

	"blocked_url": "may not be read", "unsupported_scheme": "not a web page", "unsupported_content_type": "not a text page",
	"response_too_large": "too large", "timeout": "too slow", "http_error": "error", "extraction_failed": "no text could be extracted", "skipped": "not needed", "duplicate": "same as another",
}

// lookupWords are the words for a lookup's failure: of the search, or of the pages together.
var lookupWords = map[turn.Code]string{
	"not_configured": "no search service is set up", "unreachable": "the search service cannot be reached", "timeout": "the search service was too slow",
	"rate_limited": "the search service wants fewer questions", "quota": "the search quota is used up", "unauthorized": "the search service refuses the key",
	"forbidden_json": "the search service gives no JSON", "blocked": "the search service refuses programs", "malformed": "the search service answered nonsense",
	"too_large": "the search service answered too much", "rejected": "the search service refused the question", "upstream": "the search service has a problem of its own",
	"unreadable": "no page could be read", "internal": "internal error", "cap": "the lookups allowed for now are used up",
	"room": "what was found has no room here", "nothing_to_ask": "nothing was left to ask for that may leave",
}

// Why words a page's failure, for people and models. None of it is from the far end.
func Why(p turn.Page) string {
	if p.Status >= 400 && failureWords[p.Reason] == "" {
		return "status " + strconv.Itoa(p.Status)
	}
	if w := failureWords[p.Reason]; w != "" {
		return w
	}
	if w := failureWords[p.Failure]; w != "" {
		return w
	}
	return "error"
}

// offWords are the reasons for which the web is off, in words.
var offWords = map[string]string{
	"mode": "by this channel's mode", "character": "for this character", "channel": "in this channel", "operator": "by the operator",
	"topic": "for this topic", "room": "no room in this mode's context", "nobody": "nobody asked",
}

// stateLine tells the model what could not be looked up, and to say so. It holds no word from outside.
func stateLine(l *turn.Lookup) string {
	switch l.State {
	case turn.Disabled:
		return "Web lookup: off here (" + l.Reason + "). Nothing was looked up. Where the answer needs current or exact facts, say that you cannot check them here, and do not guess."
	case turn.LookupFailed:
		return "Web lookup: failed (" + failedBy(l) + "). It was needed and could not be done, which is not the same as finding nothing. Say that you could not look it up; what you know anyway, mark as unchecked. Name no sources."
	case turn.Empty:
		return "Web lookup: done, and nothing was found that answers the question (" + readOf(l.Pages) + "). Say that you looked and found nothing; what you know anyway, mark as unchecked. Name no sources."
	}
	return ""
}

// failedBy words what failed: of the search, each of the codes of its services once.
func failedBy(l *turn.Lookup) string {
	codes := []turn.Code{l.Failure}
	for _, a := range l.Asked {
		if l.Failure != "unreadable" && a.Status != "ok" && a.Status != "empty" {
			codes = append(codes, a.Status)
		}
	}
	var words []string
	for _, code := range codes {
		words = addOnce(words, cmp.Or(lookupWords[code], "error"))
	}
	return strings.Join(words, "; ")
}

// readOf counts pages: "2 of 5 pages read".
func readOf(pages []turn.Page) string {
	read, tried := counts(pages)
	if tried == 0 {
		return "no page to read"
	}
	return strconv.Itoa(read) + " of " + strconv.Itoa(tried) + " pages read"
}

func counts(pages []turn.Page) (read, tried int) {
	for _, p := range pages {
		switch {
		case p.Snippet(): // the page itself stands there as not read
		case p.Failure == "":
			read++
			tried++
		case p.Failure != "skipped" && p.Reason != "denied_domain":
			tried++
		}
	}
	return read, tried
}

// notRead lists the pages that were not read with their reasons: one line, or "".
func notRead(pages []turn.Page) string {
	var items []string
	for _, p := range pages {
		if p.Failure != "" && p.Failure != "skipped" {
			items = append(items, p.Site+": "+Why(p))
		}
	}
	if len(items) == 0 {
		return ""
	}
	return "[not read] " + strings.Join(items, " · ")
}

// verdictLine tells the model what the pages say to the statement that was asked about, and how to put it.
// The question may have asked whether it is false: so the statement stands there.
func verdictLine(v *turn.Verdict, nonce string) string {
	of := `Fact check of "` + inertLine(v.Statement, nonce) + `": `
	sides := "for it: " + numbersOf(v.For) + "; against it: " + numbersOf(v.Against)
	switch v.Label {
	case supports:
		return of + "supported (confidence " + strconv.FormatFloat(v.Confidence, 'f', 2, 64) + "; " + sides + "). Say that these sources support it, and name what speaks against it."
	case contradicts:
		return of + "contradicted (confidence " + strconv.FormatFloat(v.Confidence, 'f', 2, 64) + "; " + sides + "). Say that these sources contradict it, with what they say instead."
	case unverified:
		return of + "unverified (" + sides + "). It is about a living person and the evidence is thin: say that you could not verify it, and repeat nothing of it as a fact."
	}
	return of + "inconclusive (" + sides + "). Too few independent sources settle it: call it neither true nor false, and say what each side writes."
}

// numbersOf are the sources of claims: "[1][3]".
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
