package page

import (
	"fmt"
	"strings"
	"testing"
)

// TestAuthorsOfPosts reads threads whose authors are known only from a link, or not at all.
func TestAuthorsOfPosts(t *testing.T) {
	body := "<div class=content><p>" + strings.Repeat("What somebody has to say about lamps, at some length. ", 4) + "</p></div>"
	for _, test := range []struct{ head, before, want string }{
		{"", `<a href="/member.php?u=%d">Ada%[1]d</a>`, "Ada1"},
		{"", `<a href="https://users.example.org/lamps/%d">Lamps%[1]d</a>`, ""}, // a host is not a profile
		{"", `<time>1 May 202%d</time>`, ""},
		{`<body itemscope itemtype="https://schema.org/DiscussionForumPosting">`, `<time>1 May 202%d</time>`, "1 May 2021"},
	} {
		source := "<!doctype html><title>Lamps</title>" + test.head + "<h1>Lamps</h1>"
		for i := range 4 {
			source += "<div class=post>" + fmt.Sprintf(test.before, i) + body + "</div>"
		}
		p, err := Read([]byte(source), "text/html; charset=utf-8", nil)
		if err != nil {
			t.Fatal(err)
		}
		if (p.Type == "forum") != (test.want != "") || !strings.Contains(p.Markdown, test.want) {
			t.Errorf("posts with %s are read as %s:\n%s", test.before, p.Type, p.Markdown)
		}
	}
}

// TestBesideContent checks that the labels of a form and the note about the author are not read.
func TestBesideContent(t *testing.T) {
	source := "<!doctype html><title>Lamps</title><h1>Lamps</h1>" + strings.Repeat("<p>Lamps give light, and some of them give more of it than others do, as we shall see below in this text.</p>", 20) +
		"<form><p>" + strings.Repeat("Ask for our list of lamps by mail, which is free of charge and comes within a week. ", 5) + "</p><label>First name*</label><input name=a><label>Company*</label><input name=b></form>" +
		"<h3>About the author</h3><p>Ada has written about lamps since she was a child.</p>"
	p, err := Read([]byte(source), "text/html; charset=utf-8", nil)
	if err != nil || !strings.Contains(p.Markdown, "Lamps give light") {
		t.Fatalf("%v: %s", err, p.Markdown)
	}
	for _, gone := range []string{"First name", "Company", "About the author", "since she was a child"} {
		if strings.Contains(p.Markdown, gone) {
			t.Errorf("%q is read", gone)
		}
	}
}
