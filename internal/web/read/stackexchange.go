package read

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/page"
)

// stackSites are the hosts of the network's sites, https://stackexchange.com/sites, and their meta sites.
var stackSites = text.NewLazyRegexp(`^(?:(?:(?:es|ja|pt|ru|meta|(?:es|ja|pt|ru)\.meta)\.)?stackoverflow\.com|(?:meta\.)?(?:superuser|serverfault|askubuntu)\.com|` +
	`(?:meta\.)?mathoverflow\.net|stackapps\.com|[a-z][a-z0-9-]{1,40}(?:\.meta)?\.stackexchange\.com)$`)

// notSites are subdomains of stackexchange.com without questions.
var notSites = strings.Fields("api blog chat data www")

// findStackExchange recognises questions, and answers by their own address or their question's.
func findStackExchange(u *url.URL, anchor string) *request {
	site := strings.TrimPrefix(u.Hostname(), "www.")
	below, _, _ := strings.Cut(site, ".")
	if !stackSites.MatchString(site) || slices.Contains(notSites, below) {
		return nil
	}
	parts := segments(u)
	if len(parts) < 2 || len(parts) > 4 || !isNumber(parts[1]) {
		return nil
	}
	req := &request{}
	question, answer := parts[1], ""
	switch parts[0] {
	case "questions", "q":
		req.final = "https://" + site + "/questions/" + question
		if isNumber(anchor) {
			answer = anchor
		} else if parts[0] == "questions" && len(parts) == 4 && isNumber(parts[3]) {
			answer = parts[3]
		}
	case "a":
		question, answer = "", parts[1]
		req.final = "https://" + site + "/a/" + answer
	default:
		return nil
	}
	req.read = func(ctx context.Context, s *session) (page.Page, error) {
		return readStack(ctx, s, site, question, answer)
	}
	return req
}

// explainStackExchange interprets the errors of https://api.stackexchange.com/docs/error-handling. Most of them have
// status 400.
func explainStackExchange(r api.Reply) api.Failure {
	var reply struct {
		ErrorID      int    `json:"error_id"`
		ErrorMessage string `json:"error_message"`
	}
	if r.Status == http.StatusOK || json.Unmarshal(r.Body, &reply) != nil {
		return api.Failure{}
	}
	switch reply.ErrorID {
	case 502:
		f := api.Failure{Code: turn.CodeRateLimited, Detail: "too many requests: STACKEXCHANGE_KEY allows more"}
		if found := waitPattern.FindStringSubmatch(reply.ErrorMessage); found != nil {
			wait, _ := strconv.Atoi(found[1])
			f.RetryAfter = time.Duration(wait) * time.Second
		}
		return f
	case 400, 401, 402, 403, 405, 406:
		return api.Failure{Code: turn.CodeRejected, Detail: fmt.Sprintf("the API answered with the error %d: check STACKEXCHANGE_KEY", reply.ErrorID)}
	case 404:
		return *missing()
	case 500, 503:
		return api.Failure{Code: turn.CodeUpstream, Detail: fmt.Sprintf("the API answered with the error %d", reply.ErrorID)}
	}
	return api.Failure{}
}

var waitPattern = text.NewLazyRegexp(`in (\d{1,6}) seconds`)

// stackReply is the wrapper of all replies, https://api.stackexchange.com/docs/wrapper.
type stackReply struct {
	Items          []stackPost
	HasMore        bool `json:"has_more"`
	Backoff        int  // seconds
	QuotaRemaining *int `json:"quota_remaining"`
}

type stackPost struct {
	QuestionID  int64 `json:"question_id"`
	AnswerID    int64 `json:"answer_id"`
	AnswerCount int   `json:"answer_count"`
	IsAccepted  bool  `json:"is_accepted"`
	Score       int
	Title, Body string
	Tags        []string
	Owner       struct {
		DisplayName string `json:"display_name"`
	}
	CreationDate int64 `json:"creation_date"`
	LastEditDate int64 `json:"last_edit_date"`
	ClosedDate   int64 `json:"closed_date"`
}

// maxAnswers is how many answers to a question are read.
const maxAnswers = 50

func readStack(ctx context.Context, s *session, site, question, answer string) (page.Page, error) {
	where := "/2.3/questions/" + question
	if question == "" {
		where = "/2.3/answers/" + answer + "/questions"
	}
	questions, err := s.stack(ctx, site, where, nil)
	if err != nil {
		return page.Page{}, err
	}
	if len(questions.Items) == 0 {
		return page.Page{}, missing()
	}
	q := questions.Items[0]
	if q.QuestionID <= 0 || q.Title == "" {
		return page.Page{}, malformed("the reply is not a question")
	}
	var answers []stackPost
	if q.AnswerCount > 0 {
		ctx, cancel := context.WithTimeout(ctx, extrasTimeout)
		defer cancel()
		got, err := s.stack(ctx, site, fmt.Sprintf("/2.3/questions/%d/answers", q.QuestionID), url.Values{"sort": {"votes"}, "order": {"desc"}, "pagesize": {strconv.Itoa(maxAnswers)}})
		if err == nil {
			answers = bestFirst(got.Items, answer)
		}
	}
	return q.page(site, answers), nil
}

// stack sends a request about a site. It obeys the limits in every reply.
func (s *session) stack(ctx context.Context, site, where string, params url.Values) (stackReply, error) {
	all := url.Values{"site": {site}, "filter": {"withbody"}}
	maps.Copy(all, params)
	if key := s.services.config.StackExchangeKey; key != "" {
		all.Set("key", key)
	}
	var reply stackReply
	err := s.json(ctx, api.Request{Path: where, Params: all}, &reply)
	if reply.Backoff > 0 {
		s.coolDown(time.Duration(reply.Backoff) * time.Second)
	}
	if reply.QuotaRemaining != nil && *reply.QuotaRemaining <= 0 {
		s.coolDown(maxCooldown)
	}
	if len(reply.Items) > 0 {
		err = nil // fields of unexpected types are ignored
	}
	return reply, err
}

// bestFirst sorts answers: first the requested one, then the accepted one, then by score.
func bestFirst(answers []stackPost, wanted string) []stackPost {
	rank := func(a stackPost) int {
		switch {
		case strconv.FormatInt(a.AnswerID, 10) == wanted:
			return 0
		case a.IsAccepted:
			return 1
		}
		return 2
	}
	sort.SliceStable(answers, func(i, j int) bool {
		a, b := answers[i], answers[j]
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Score, a.Score)) < 0
	})
	return answers
}

func (q stackPost) page(site string, answers []stackPost) page.Page {
	posts := []post{q.post("Question")}
	if len(q.Tags) > 0 {
		posts[0].facts = append(posts[0].facts, "tags: "+strings.Join(q.Tags, ", "))
	}
	if q.ClosedDate > 0 {
		posts[0].facts = append(posts[0].facts, "closed")
	}
	modified := q.LastEditDate
	for _, a := range answers {
		one := a.post("Answer")
		if a.IsAccepted {
			one.facts = append(one.facts, "accepted")
		}
		posts = append(posts, one)
		modified = max(modified, a.CreationDate, a.LastEditDate)
	}
	p := thread(posts, max(0, q.AnswerCount-len(answers)), &url.URL{Scheme: "https", Host: site, Path: "/"})
	p.Title, p.Author, p.Site, p.Published = plainText(q.Title), plainText(q.Owner.DisplayName), site, unixTime(q.CreationDate)
	p.Modified = ifAfter(unixTime(modified), p.Published)
	if language, _, _ := strings.Cut(site, "."); len(language) == 2 {
		p.Language = language
	}
	return p
}

func (q stackPost) post(what string) post {
	return post{what: what, author: q.Owner.DisplayName, at: unixTime(q.CreationDate), facts: []string{fmt.Sprintf("score %d", q.Score)}, body: q.Body}
}
