package turn

// Code says why something could not be fetched: a service's answer, a page or a lookup. The codes below are all there are,
// and each has one constant, so CodeTooLarge is always "too_large". A code never contains text from outside, so people
// and models may be shown it.
type Code string

// Results of asking a search backend that are not failures: [Asked.Status].
const (
	CodeOK    Code = "ok"    // it found something
	CodeEmpty Code = "empty" // it looked and found nothing; as a reason: the page has no text
)

// Why the API of a service did not answer: a search backend or a special reader.
const (
	CodeUnreachable   Code = "unreachable"    // no connection, or a broken one
	CodeTimeout       Code = "timeout"        // no answer in time; also a page's failure
	CodeRateLimited   Code = "rate_limited"   // too many requests just now; also a page's reason
	CodeQuota         Code = "quota"          // a limit per day, per month or on money is used up
	CodeUnauthorized  Code = "unauthorized"   // the key is wrong
	CodeBlocked       Code = "blocked"        // it took the program for a robot and refused
	CodeMalformed     Code = "malformed"      // not the agreed reply; also a page's reason: not valid HTTP
	CodeTooLarge      Code = "too_large"      // a reply over the limit; also a page's reason
	CodeRejected      Code = "rejected"       // it understood the request and refused it
	CodeUpstream      Code = "upstream"       // the service, or one behind it, failed
	CodeMissing       Code = "missing"        // it does not know the page
	CodeNotConfigured Code = "not_configured" // it has no address or no key
	CodeForbiddenJSON Code = "forbidden_json" // a SearXNG whose settings do not allow JSON
)

// Why a lookup failed as a whole, in addition to the codes of search backends: [Lookup.Failure].
const (
	CodeUnreadable   Code = "unreadable"     // no page could be read
	CodeCap          Code = "cap"            // the lookups allowed for now are used up
	CodeRoom         Code = "room"           // what was found does not fit into the context
	CodeNothingToAsk Code = "nothing_to_ask" // after removing what may not leave the machine, nothing of the question was left
	CodeInternal     Code = "internal"       // this program failed; also a page's reason
)

// Why an attachment is not shown to the model, in addition to CodeTooLarge, CodeCap and the reasons of pages:
// [Attached.Failure].
const (
	CodeBlind Code = "blind" // it is a picture, and the model cannot see
)

// Why a page was not read, in addition to CodeTimeout: [Page.Failure].
const (
	CodeBlockedURL         Code = "blocked_url"              // a rule forbids reading it
	CodeUnsupportedScheme  Code = "unsupported_scheme"       // neither http nor https
	CodeUnsupportedType    Code = "unsupported_content_type" // no text, or not the wanted image
	CodeResponseTooLarge   Code = "response_too_large"       // longer than the program reads
	CodeHTTPError          Code = "http_error"               // no connection, no valid response, or an unusable status
	CodeExtractionFailed   Code = "extraction_failed"        // no text could be extracted
	CodeJavaScriptRequired Code = "javascript_required"      // it shows its text only to browsers that run scripts
	CodeSkipped            Code = "skipped"                  // it was not needed
)

// Finer codes for CodeBlockedURL: [Page.Reason].
const (
	CodeInvalidTarget           Code = "invalid_target"             // not a URL with exactly one reading
	CodeBadScheme               Code = "bad_scheme"                 // neither http nor https
	CodeDeniedHost              Code = "denied_host"                // a name that can only be local
	CodeDeniedAddress           Code = "denied_address"             // the name resolves to an address that may not be dialled
	CodeDeniedPort              Code = "denied_port"                // neither 80 nor 443
	CodeDeniedDomain            Code = "denied_domain"              // the operator's lists do not allow the host
	CodeFakeIP                  Code = "fake_ip_dns"                // a proxy tool answers DNS with made-up addresses
	CodeOutsideSite             Code = "outside_site"               // outside of the site that was asked for
	CodeRedirectToBlockedTarget Code = "redirect_to_blocked_target" // it redirects to a target that may not be read
	CodeRedirectToHTTP          Code = "redirect_to_http"           // it redirects from https to http
	CodeRobots                  Code = "robots"                     // robots.txt disallows it
	CodeRobotsUnreachable       Code = "robots_unreachable"         // robots.txt could not be read
	CodeNoPages                 Code = "no_pages"                   // the operator forbids reading pages
	CodeNoFetcher               Code = "no_fetcher"                 // no fetcher is configured
)

// Finer codes for CodeHTTPError, in addition to CodeMalformed and CodeRateLimited: [Page.Reason].
const (
	CodeDNS                 Code = "dns"                   // the name could not be resolved
	CodeConnect             Code = "connect"               // no checked address accepted a connection
	CodeTLS                 Code = "tls"                   // the certificate or the encryption is unacceptable
	CodeTransport           Code = "transport"             // the connection broke
	CodePeerResetStream     Code = "peer_reset_stream"     // the site reset an HTTP/2 stream
	CodeNoLocation          Code = "no_location"           // a redirect without a target
	CodeRedirectNotFollowed Code = "redirect_not_followed" // an image that has moved
	CodeTooManyRedirects    Code = "too_many_redirects"    // too many redirects
	CodeUnexpectedStatus    Code = "unexpected_status"     // an unexpected status
	CodeHTTP4xx             Code = "http_4xx"              // the site refused the request
	CodeHTTP5xx             Code = "http_5xx"              // the site failed
	CodeRequestTimeout      Code = "request_timeout"       // HTTP 408: the site did not wait for the request
	CodeChallenge           Code = "challenge"             // a check for humans, or for consent, comes before the page
)

// Finer codes for CodeTimeout: [Page.Reason].
const (
	CodeDNSTimeout    Code = "dns_timeout"    // the name was not resolved in time
	CodeDialTimeout   Code = "dial_timeout"   // no connection in time
	CodeTLSTimeout    Code = "tls_timeout"    // no encryption in time
	CodeHeaderTimeout Code = "header_timeout" // no headers in time
	CodeTotalTimeout  Code = "total_timeout"  // the whole page did not come in time
	CodeTooSlow       Code = "too_slow"       // too few bytes per second
	CodeBusy          Code = "busy"           // too many pages are being read
	CodeDeadline      Code = "deadline"       // the caller had no time left
	CodeCanceled      Code = "canceled"       // nobody waits for it any longer
)

// Finer codes for CodeResponseTooLarge, in addition to CodeTooLarge: [Page.Reason].
const (
	CodeHeaderFlood       Code = "header_flood"       // too many headers, or too large ones
	CodeDecompressionBomb Code = "decompression_bomb" // it unpacks to far more bytes than were sent
)

// Finer codes for CodeUnsupportedType: [Page.Reason].
const (
	CodeMissingType  Code = "missing_type"  // the site does not state the type
	CodeBadType      Code = "bad_type"      // not a type of text that is read
	CodeBadImage     Code = "bad_image"     // not PNG, JPEG, WebP or GIF
	CodeTypeMismatch Code = "type_mismatch" // not what the site states
	CodeBadEncoding  Code = "bad_encoding"  // a compression that is not read
)

// Finer codes for CodeExtractionFailed, in addition to CodeEmpty, CodeChallenge and CodeInternal: [Page.Reason].
const (
	CodeBadCharset Code = "bad_charset" // a character encoding that can hide text
	CodeUnparsable Code = "unparsable"  // neither HTML, JSON nor readable text
	CodePanic      Code = "panic"       // reading it panicked; only this page is lost
)

// Finer codes for CodeSkipped: [Page.Reason].
const (
	CodeDuplicate Code = "duplicate" // the same text as an earlier page
	CodeQuorum    Code = "quorum"    // enough others were read
	CodeNotThere  Code = "not_there" // the address was guessed, and the site has no such page
)

// VerdictLabel is the result of a fact check: [Verdict.Label].
type VerdictLabel string

// The verdicts of a fact check.
const (
	VerdictSupports     VerdictLabel = "supports"
	VerdictContradicts  VerdictLabel = "contradicts"
	VerdictInconclusive VerdictLabel = "inconclusive" // too few independent sites take a position, or they disagree
	VerdictUnverified   VerdictLabel = "unverified"   // inconclusive, and about a living person
)

// OffReason says why the web is not used in a turn: [Web.Reason].
type OffReason string

// The reasons. The first four say who switched the web off. A lookup sets the others itself.
const (
	OffOperator  OffReason = "operator"
	OffCharacter OffReason = "character"
	OffChannel   OffReason = "channel"
	OffMode      OffReason = "mode"
	OffTopic     OffReason = "topic"   // the operator denies the topic
	OffQuota     OffReason = "quota"   // today's lookups are used up
	OffRoom      OffReason = "room"    // the mode's context has no room for results
	OffUnasked   OffReason = "unasked" // the bot joins in unasked
	OffNobody    OffReason = "nobody"  // no person wrote the message
)

var offWords = map[OffReason]string{
	OffMode: "by this channel's mode", OffCharacter: "for this character", OffChannel: "in this channel", OffOperator: "by the operator",
	OffTopic: "for this topic", OffQuota: "the lookups of today are used up", OffRoom: "no room in this mode's context", OffNobody: "nobody asked",
}

// Words says in English why the web is off. It returns "" for an unknown reason.
func (r OffReason) Words() string { return offWords[r] }

// Intent is a kind of question. It decides which search backends are asked and how.
type Intent string

// The intents. IntentGeneral is for every question that is none of the others.
const (
	IntentGeneral   Intent = "general"
	IntentWeather   Intent = "weather"    // the weather at a place, now or in the coming days
	IntentNews      Intent = "news"       // what happened lately
	IntentPerson    Intent = "person"     // who somebody is or was
	IntentFactCheck Intent = "fact_check" // whether a statement is true
	IntentForum     Intent = "forum"      // what people say about something
	IntentDocs      Intent = "docs"       // the reference of a program, a library or a format
	IntentHowTo     Intent = "howto"      // how something is done
	IntentImage     Intent = "image"
	IntentVideo     Intent = "video"
	IntentServer    Intent = "server" // what was said earlier in the same server; the web is not used
)
