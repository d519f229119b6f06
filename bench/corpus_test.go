package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// pageSize is how large a page of the corpus is, in bytes.
const pageSize = 300 << 10

// corpus is one page of each kind, the same at every run.
func corpus() map[string][]byte {
	pages := map[string][]byte{}
	for kind, matter := range map[string]func(*writer){
		"article": article, "documentation": documentation, "forum": forum, "product": product, "listing": listing,
	} {
		w := writer{dice: rand.New(rand.NewPCG(1, 2))}
		w.page(matter)
		pages[kind] = []byte(w.String())
	}
	return pages
}

// writer writes a page of words drawn at random.
type writer struct {
	strings.Builder
	dice *rand.Rand
}

func (w *writer) put(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// page is the matter with what pages carry beside it: styles, scripts, menus, what is hidden, offers.
func (w *writer) page(matter func(*writer)) {
	title := w.words(6)
	w.put("<!doctype html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  <title>%s | A Site</title>\n", title)
	w.put("  <meta property=\"og:title\" content=\"%s\">\n  <meta name=\"description\" content=\"%s\">\n", title, w.words(20))
	w.put("  <link rel=\"stylesheet\" href=\"/assets/main.css\">\n")
	w.style(pageSize / 8)
	w.script(pageSize / 5)
	w.put("</head>\n<body class=\"page page--default\">\n")
	w.put("  <!-- header -->\n  <header class=\"header\">\n    <nav class=\"nav nav--main\">\n      <ul>\n")
	for i := range 80 {
		w.put("        <li class=\"nav__item nav__item--%d\">\n          <a class=\"nav__link\" href=\"/section/%d\" data-track=\"nav-%d\">%s</a>\n        </li>\n", i%7, i, i, w.words(2))
	}
	w.put("      </ul>\n    </nav>\n  </header>\n  <main id=\"content\" class=\"content\">\n    <h1 class=\"title\">%s</h1>\n", title)
	matter(w)
	w.put("  </main>\n  <div class=\"dialog\" hidden>%s</div>\n  <div style=\"display: none\">%s</div>\n  <span class=\"sr-only\">%s</span>\n", w.words(40), w.words(40), w.words(8))
	w.put("  <aside class=\"sidebar\">\n    <h2>Most read</h2>\n")
	for w.Len() < pageSize*4/5 {
		w.teaser("teaser", w.dice.IntN(1_000))
	}
	w.put("  </aside>\n")
	w.script(pageSize - w.Len())
	w.put("  <footer class=\"footer\">%s</footer>\n</body>\n</html>\n", w.words(30))
}

func (w *writer) style(size int) {
	w.put("  <style>\n")
	for end := w.Len() + size; w.Len() < end; {
		i := w.dice.IntN(1_000)
		w.put(".%s-%d,.%s__%s>a:hover{display:block;color:#%06x;margin:0 %dpx;padding:%dpx}\n", w.word(), i, w.word(), w.word(), i*1_717, i%40, i%30)
		w.put("@media (max-width:%dpx){.%s .%s{display:none}}\n.%s.is-%d{position:absolute;left:-9999px;width:%d%%}\n", 400+i, w.word(), w.word(), w.word(), i, i%100)
	}
	w.put("  </style>\n")
}

func (w *writer) script(size int) {
	w.put("  <script>\n")
	for end := w.Len() + size; w.Len() < end; {
		w.put("    window.%s=window.%s||[];if(a<b&&c>d){window.%s.push({id:%d,name:\"%s\",url:\"/%s/%s\"});}\n", w.word(), w.word(), w.word(), w.dice.IntN(10_000), w.words(3), w.word(), w.word())
	}
	w.put("  </script>\n")
}

func (w *writer) teaser(class string, i int) {
	w.put("    <div class=\"%s %s--%d\" data-id=\"%d\">\n      <a class=\"%s__link\" href=\"/story/%d\">\n", class, class, i%5, i, class, i)
	w.put("        <img class=\"lazy\" src=\"/i/%d.jpg\" srcset=\"/i/%d-400.jpg 400w, /i/%d-800.jpg 800w\" alt=\"%s\">\n        <h3>%s</h3>\n      </a>\n", i, i, i, w.words(3), w.words(7))
	w.put("      <svg width=\"16\" height=\"16\"><path d=\"M%d 4h%dv2H4z\"/></svg><span class=\"meta\">%d minutes</span>\n    </div>\n", i%9, i%7, i%60)
}

func article(w *writer) {
	w.put("    <article class=\"article\">\n      <p class=\"byline\">By <a rel=\"author\" href=\"/a\">%s</a>, <time datetime=\"2026-03-02\">2 March 2026</time></p>\n", w.words(2))
	for i := range 60 {
		if i%8 == 7 {
			w.put("      <h2>%s</h2>\n", w.words(5))
		}
		w.put("      <p>%s <a href=\"/about/%d\">%s</a> %s</p>\n", w.sentences(3), i, w.words(3), w.sentences(2))
		if i%20 == 10 {
			w.put("      <figure><img src=\"/p/%d.jpg\" alt=\"\"><figcaption>%s</figcaption></figure>\n", i, w.words(9))
		}
	}
	w.put("    </article>\n")
}

func documentation(w *writer) {
	for i := range 40 {
		w.put("    <section id=\"s%d\">\n      <h2>%s <a class=\"anchor\" href=\"#s%d\">¶</a></h2>\n      <p>%s</p>\n", i, w.words(3), i, w.sentences(3))
		w.put("      <pre><code class=\"language-go\">func %s(%s int) error {\n\treturn %s(%s)\n}\n</code></pre>\n", w.word(), w.word(), w.word(), w.word())
		w.put("      <table><thead><tr><th>Name</th><th>Meaning</th></tr></thead><tbody>\n")
		for range 5 {
			w.put("        <tr><td><code>%s</code></td><td>%s</td></tr>\n", w.word(), w.words(8))
		}
		w.put("      </tbody></table>\n      <ul><li>%s</li><li>%s</li></ul>\n    </section>\n", w.sentences(1), w.sentences(1))
	}
}

func forum(w *writer) {
	for i := range 60 {
		w.put("    <div class=\"post\" id=\"post-%d\">\n      <div class=\"post-author\"><a class=\"username\" href=\"/u/%d\">%s</a></div>\n", i, i, w.word())
		w.put("      <time class=\"post-date\" datetime=\"2026-03-02\">2 March 2026</time>\n      <div class=\"post-content\">\n        <blockquote>%s</blockquote>\n", w.sentences(1))
		w.put("        <p>%s</p>\n        <p>%s</p>\n      </div>\n      <div class=\"post-buttons\"><a href=\"#\">Reply</a> <a href=\"#\">Quote</a></div>\n    </div>\n", w.sentences(3), w.sentences(2))
	}
}

func product(w *writer) {
	w.put("    <div class=\"product\" itemscope itemtype=\"https://schema.org/Product\">\n      <span itemprop=\"price\">$49.00</span>\n      <button>Add to cart</button>\n      <div class=\"description\"><p>%s</p></div>\n      <table class=\"specs\">\n", w.sentences(6))
	for range 30 {
		w.put("        <tr><th>%s</th><td>%s</td></tr>\n", w.word(), w.words(4))
	}
	w.put("      </table>\n    </div>\n    <div class=\"reviews\"><h2>Customer reviews</h2>\n")
	for i := range 30 {
		w.put("      <div class=\"review\"><span class=\"stars\">%d</span><p>%s</p></div>\n", i%5, w.sentences(2))
	}
	w.put("    </div>\n")
}

func listing(w *writer) {
	for i := range 120 {
		w.teaser("card", i)
		w.put("    <p class=\"card__text\">%s</p>\n", w.sentences(1))
	}
}

var lexicon = strings.Fields(`about after again answer around before begin between book build call carry change city clear close cold country cover
	cross early earth enough every family field figure final follow force garden great green group hand heart house idea island kind
	language large late leave letter light line listen little machine measure mountain music never number often open order paper people
	picture place plain plant point power question quick rain reach river round school second sentence short simple sleep small sound
	spell stand star state still story strong study summer system table travel under voice watch water weather while wind winter wonder`)

func (w *writer) word() string { return lexicon[w.dice.IntN(len(lexicon))] }

func (w *writer) words(n int) string {
	drawn := make([]string, n)
	for i := range drawn {
		drawn[i] = w.word()
	}
	return strings.Join(drawn, " ")
}

func (w *writer) sentences(n int) string {
	drawn := make([]string, n)
	for i := range drawn {
		drawn[i] = "The " + w.words(5+w.dice.IntN(8)) + ", and " + w.words(3+w.dice.IntN(6)) + "."
	}
	return strings.Join(drawn, " ")
}
