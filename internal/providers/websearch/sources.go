package websearch

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

// target is one page that may be read, and how it came to be allowed (P2).
type target struct {
	url    string    // canonical
	spare  []string  // where the page may be if it isn't there
	anchor string    // the fragment it had, with its "#": a part of the page
	site   string    // its host
	hit    *turn.Hit // from the search of this turn; nil if a person typed it
	rank   int       // from 0

	language string // of the question, in which a page of several is read
}

// inText finds URLs as people type them, with or without a scheme.
var inText = regexp.MustCompile(`(?i)(?:\bhttps?://|\bwww\.)[^\s<>"“”„«»]+`)

// notPages are files that hold nothing to read.
var notPages = set(".gif .png .jpg .jpeg .webp .mp4 .webm .mov .mp3 .ogg .zip .exe")

// typedURLs returns the URLs that people typed in the message or in the message it replies to, canonical but for the
// fragment and in order, and apart from these what looks like a URL and may not be read. One of the parent's counts only if the
// message speaks of it.
func typedURLs(req turn.Request) (urls, refused []string) {
	var texts []string
	if req.Message.ByPerson() {
		texts = append(texts, req.Message.Text)
	}
	if parent := req.Parent; parent != nil && parent.ByPerson() && inText.MatchString(parent.Text) && speaksOfPage(req.Message.Text) {
		texts = append(texts, parent.Text)
	}
	for _, text := range texts {
		for _, raw := range inText.FindAllString(text, 20) {
			raw = trimURL(raw)
			if strings.HasPrefix(strings.ToLower(raw), "www.") {
				raw = "https://" + raw
			}
			canonical, ok := guard.Canonical(raw)
			switch {
			case !ok:
				refused = addOnce(refused, raw)
			case !isFile(canonical):
				urls = addOnce(urls, canonical+anchorOf(raw))
			}
		}
	}
	return urls, refused
}

// pageWords are the words by which a reply means the page that its parent links to.
var pageWords = set("this that it link page article site url post read summary summarize summarise tldr says say said about das link seite artikel lies zusammen ca lien resume esto enlace resumen isso resumo questo riassumi это ссылка")

func speaksOfPage(text string) bool {
	for _, w := range split(text) {
		if pageWords[w.key] {
			return true
		}
	}
	return false
}

// trimURL drops the punctuation of the sentence around a URL, and a bracket that it did not open.
func trimURL(s string) string {
	for s != "" {
		last := s[len(s)-1]
		switch {
		case strings.IndexByte(`.,;:!?'*_~|`, last) >= 0:
		case last == ')' && strings.Count(s, ")") > strings.Count(s, "("):
		case last == ']' && strings.Count(s, "]") > strings.Count(s, "["):
		case last == '}' && strings.Count(s, "}") > strings.Count(s, "{"):
		default:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

func isFile(canonical string) bool {
	u, err := url.Parse(canonical)
	return err == nil && notPages[strings.ToLower(path.Ext(u.Path))]
}

func withoutURLs(s string) string { return inText.ReplaceAllString(s, " ") }

// choose picks the pages to be read of what was found: the best ranked that the operator's lists allow, a few of
// one domain at most. Pages that are refused by a rule come back as not read. Each hit that is passed over says why.
func choose(hits []turn.Hit, intent string, pol Policy) (targets []target, refused []turn.Page) {
	perDomain := map[string]int{}
	seen := map[string]bool{}
	trusted, some := pol.trust(intent)
	for i := range hits {
		hit := &hits[i]
		canonical, ok := guard.Canonical(hit.URL)
		if !ok || seen[canonical] {
			passOver(hit, map[bool]string{true: "the same page again", false: "no address that may be read"}[ok])
			continue
		}
		seen[canonical] = true
		site := siteOf(canonical)
		if !pol.Domains.Allows(site) {
			passOver(hit, "not allowed by the operator")
			refused = append(refused, turn.Page{URL: canonical, Site: site, Failure: "blocked_url", Reason: "denied_domain"})
			continue
		}
		if some && trusted.Only && !trusted.Hosts.Allows(site) {
			passOver(hit, "not one of the sites trusted for "+intent)
			continue
		}
		domain := guard.Registrable(site)
		if domain == "" {
			domain = site
		}
		if perDomain[domain] >= pol.PerDomain || len(targets) >= pol.Pages {
			passOver(hit, map[bool]string{true: "enough pages before it", false: "enough of its site before it"}[len(targets) >= pol.Pages])
			continue
		}
		perDomain[domain]++
		targets = append(targets, target{url: canonical, anchor: anchorOf(hit.URL), site: site, hit: hit, rank: len(targets)})
	}
	return targets, refused
}

// passOver notes why a hit's page is not read.
func passOver(hit *turn.Hit, why string) {
	if hit.Why != "" {
		why = hit.Why + "; " + why
	}
	hit.Why = why
}

// anchorOf is a URL's fragment with its "#", "" if it has none or an empty one.
func anchorOf(raw string) string {
	if _, fragment, _ := strings.Cut(raw, "#"); fragment != "" {
		return "#" + fragment
	}
	return ""
}

func siteOf(canonical string) string {
	u, err := url.Parse(canonical)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// typedTargets makes targets of typed URLs. A private or forbidden one is left to the fetcher to refuse, so that
// there is one place which knows the rules.
func typedTargets(urls []string, pol Policy) []target {
	var out []target
	for _, u := range urls[:min(len(urls), pol.Pages)] {
		anchor := anchorOf(u)
		u = strings.TrimSuffix(u, anchor)
		out = append(out, target{url: u, anchor: anchor, site: siteOf(u), rank: len(out)})
	}
	return out
}
