package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"familiar/internal/context/turn"
)

// wikipediaLanguages lists the languages with a large Wikipedia.
const wikipediaLanguages = "en de fr es it pt nl pl ru uk ja zh ar fa he tr ko vi id ms th hi bn ta te ur sv da no nn fi et lv lt " +
	"cs sk sl hr sr bs bg mk ro hu el ca eu gl cy ga is af sw eo la hy ka az kk be sq ceb war"

// HasWikipedia reports whether a language such as "en" has a large Wikipedia. The list is closed because the language
// becomes part of a host name.
func HasWikipedia(language string) bool {
	return slices.Contains(strings.Fields(wikipediaLanguages), language)
}

// ExplainMediaWiki returns the errors of MediaWiki's Action API, which have status 200; see [Endpoint.Explain]. The
// detail ends with the API's error code.
func ExplainMediaWiki(r Reply) Failure {
	var reply struct{ Error struct{ Code string } }
	// Quotes in an article's text would be escaped.
	if !bytes.Contains(r.Body, []byte(`"error"`)) || json.Unmarshal(r.Body, &reply) != nil || reply.Error.Code == "" {
		return Failure{}
	}
	failed := Failure{Code: turn.CodeRejected, Detail: "the API answered with the error " + brief(reply.Error.Code, 60)}
	switch code := reply.Error.Code; {
	case code == "maxlag" || strings.Contains(code, "busy") || strings.Contains(code, "internal"):
		failed.Code = turn.CodeUpstream
	case code == "ratelimited":
		failed.Code = turn.CodeRateLimited
	}
	return failed
}
