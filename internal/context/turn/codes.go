package turn

// Code says why something could not be had: the answer of a service, a page, a lookup. The codes below are all there
// are, each under its own name, so that CodeTooLarge is "too_large" wherever it stands. Nothing from outside is ever
// part of a code: it may be shown to people and to models.
type Code string

// What came of asking a search backend, where it is no failure: [Asked.Status].
const (
	CodeOK    Code = "ok"    // it found something
	CodeEmpty Code = "empty" // it looked and found nothing; as a reason: there is no text on the page
)

// Why a service with an API did not answer, be it a search backend or a special reader.
const (
	CodeUnreachable   Code = "unreachable"    // no connection, or one that broke
	CodeTimeout       Code = "timeout"        // no answer in time; also a page's failure
	CodeRateLimited   Code = "rate_limited"   // too many requests just now; also a page's reason
	CodeQuota         Code = "quota"          // the limit of a day, of a month or of money is used up
	CodeUnauthorized  Code = "unauthorized"   // the key is wrong
	CodeBlocked       Code = "blocked"        // it takes us for a robot and refuses
	CodeMalformed     Code = "malformed"      // not the reply that was agreed on; also a page's reason: not valid HTTP
	CodeTooLarge      Code = "too_large"      // a reply over the limit; also a page's reason
	CodeRejected      Code = "rejected"       // it understood the request and refuses it
	CodeUpstream      Code = "upstream"       // a failure of its own, or of a service behind it
	CodeMissing       Code = "missing"        // it knows no such page
	CodeNotConfigured Code = "not_configured" // it has no address or no key
	CodeForbiddenJSON Code = "forbidden_json" // a SearXNG whose settings do not allow JSON
)

// Why a lookup failed as a whole, beside the codes of the search backends: [Lookup.Failure].
const (
	CodeUnreadable   Code = "unreadable"     // no page could be read
	CodeCap          Code = "cap"            // the lookups allowed for now are used up
	CodeRoom         Code = "room"           // what was found does not fit into the context
	CodeNothingToAsk Code = "nothing_to_ask" // nothing that may leave the machine was left of the question
	CodeInternal     Code = "internal"       // a failure of this program; also a page's reason
)

// Why something that hangs on a message is not shown to the model, beside CodeTooLarge, CodeCap and the reasons of pages: [Attached.Failure].
const (
	CodeBlind Code = "blind" // a picture, and the model cannot see
)

// Why a page was not read, beside CodeTimeout: [Page.Failure].
const (
	CodeBlockedURL         Code = "blocked_url"              // a rule forbids the visit
	CodeUnsupportedScheme  Code = "unsupported_scheme"       // neither http nor https
	CodeUnsupportedType    Code = "unsupported_content_type" // not a text, or not the image that is wanted
	CodeResponseTooLarge   Code = "response_too_large"       // more than is read of a page
	CodeHTTPError          Code = "http_error"               // no connection, no valid answer, or a status that is no page
	CodeExtractionFailed   Code = "extraction_failed"        // it came, and no text could be had from it
	CodeJavaScriptRequired Code = "javascript_required"      // it shows its text only to browsers that run scripts
	CodeSkipped            Code = "skipped"                  // it was not needed
)

// Finer than CodeBlockedURL: [Page.Reason].
const (
	CodeInvalidTarget           Code = "invalid_target"             // not a URL that the rules can read in exactly one way
	CodeBadScheme               Code = "bad_scheme"                 // neither http nor https
	CodeDeniedHost              Code = "denied_host"                // a name that can only be local
	CodeDeniedAddress           Code = "denied_address"             // the name leads to an address that may not be dialled
	CodeDeniedPort              Code = "denied_port"                // neither 80 nor 443
	CodeDeniedDomain            Code = "denied_domain"              // the operator's lists do not allow the host
	CodeFakeIP                  Code = "fake_ip_dns"                // a proxy tool answers DNS with made-up addresses
	CodeOutsideSite             Code = "outside_site"               // not a page of the site that was asked for
	CodeRedirectToBlockedTarget Code = "redirect_to_blocked_target" // the page leads on to a target that may not be visited
	CodeRedirectToHTTP          Code = "redirect_to_http"           // the page leads from https back to http
	CodeRobots                  Code = "robots"                     // robots.txt disallows it
	CodeRobotsUnreachable       Code = "robots_unreachable"         // robots.txt could not be read
	CodeNoPages                 Code = "no_pages"                   // the operator lets no pages be read
	CodeNoFetcher               Code = "no_fetcher"                 // nothing is set up that could fetch it
)

// Finer than CodeHTTPError, beside CodeMalformed and CodeRateLimited: [Page.Reason].
const (
	CodeDNS                 Code = "dns"                   // the name could not be resolved
	CodeConnect             Code = "connect"               // no checked address accepted a connection
	CodeTLS                 Code = "tls"                   // the certificate or the encryption is not acceptable
	CodeTransport           Code = "transport"             // the connection broke
	CodePeerResetStream     Code = "peer_reset_stream"     // the site broke off an HTTP/2 stream
	CodeNoLocation          Code = "no_location"           // a redirect to nowhere
	CodeRedirectNotFollowed Code = "redirect_not_followed" // an image that is not where its address says
	CodeTooManyRedirects    Code = "too_many_redirects"    // more redirects than are followed
	CodeUnexpectedStatus    Code = "unexpected_status"     // neither a page nor an error
	CodeHTTP4xx             Code = "http_4xx"              // the site refused the request
	CodeHTTP5xx             Code = "http_5xx"              // the site has a problem
	CodeRequestTimeout      Code = "request_timeout"       // HTTP 408: the site gave up waiting for the request
	CodeChallenge           Code = "challenge"             // a check for humans, or for consent, stands before the page
)

// Finer than CodeTimeout: [Page.Reason].
const (
	CodeDNSTimeout    Code = "dns_timeout"    // the name was not resolved in time
	CodeDialTimeout   Code = "dial_timeout"   // no connection in time
	CodeTLSTimeout    Code = "tls_timeout"    // no encryption in time
	CodeHeaderTimeout Code = "header_timeout" // no headers in time
	CodeTotalTimeout  Code = "total_timeout"  // the page did not come in time as a whole
	CodeTooSlow       Code = "too_slow"       // too few bytes a second
	CodeBusy          Code = "busy"           // too many pages are being read already
	CodeDeadline      Code = "deadline"       // the caller had no time left
	CodeCanceled      Code = "canceled"       // nobody waits for it any more
)

// Finer than CodeResponseTooLarge, beside CodeTooLarge: [Page.Reason].
const (
	CodeHeaderFlood       Code = "header_flood"       // too many or too large headers
	CodeDecompressionBomb Code = "decompression_bomb" // it unpacks to far more than was sent
)

// Finer than CodeUnsupportedType: [Page.Reason].
const (
	CodeMissingType  Code = "missing_type"  // the site does not say what it is
	CodeBadType      Code = "bad_type"      // no kind of text that is read
	CodeBadImage     Code = "bad_image"     // no PNG, JPEG, WebP or GIF
	CodeTypeMismatch Code = "type_mismatch" // not what the site says it is
	CodeBadEncoding  Code = "bad_encoding"  // compressed in a way that is not read
)

// Finer than CodeExtractionFailed, beside CodeEmpty, CodeChallenge and CodeInternal: [Page.Reason].
const (
	CodeBadCharset Code = "bad_charset" // a character encoding that can hide text
	CodeUnparsable Code = "unparsable"  // neither HTML nor JSON nor text that can be read
	CodePanic      Code = "panic"       // reading it panicked, which cost this page alone
)

// Finer than CodeSkipped: [Page.Reason].
const (
	CodeDuplicate Code = "duplicate" // the same as a page that stands before it
	CodeQuorum    Code = "quorum"    // enough others were read
	CodeNotThere  Code = "not_there" // a page that was only guessed, and that the site does not have
)

// VerdictLabel says how a fact check ended: [Verdict.Label].
type VerdictLabel string

// The verdicts of a fact check.
const (
	VerdictSupports     VerdictLabel = "supports"
	VerdictContradicts  VerdictLabel = "contradicts"
	VerdictInconclusive VerdictLabel = "inconclusive" // too few independent sites take a stance, or they disagree
	VerdictUnverified   VerdictLabel = "unverified"   // inconclusive, and about a living person
)

// OffReason says why the web is not asked in a turn: [Web.Reason].
type OffReason string

// The reasons. The first four are those of who switched the web off; a lookup finds the others by itself.
const (
	OffOperator  OffReason = "operator"
	OffCharacter OffReason = "character"
	OffChannel   OffReason = "channel"
	OffMode      OffReason = "mode"
	OffTopic     OffReason = "topic"   // the operator denies the topic
	OffQuota     OffReason = "quota"   // the lookups of today are used up
	OffRoom      OffReason = "room"    // the mode's context has no room for what is found
	OffUnasked   OffReason = "unasked" // the bot joins in, and nobody asked it
	OffNobody    OffReason = "nobody"  // no person wrote the message
)

// Intent is a kind of question. It decides which search backends are asked, and how.
type Intent string

// The intents. A question that is none of the others is a general one.
const (
	IntentGeneral   Intent = "general"
	IntentWeather   Intent = "weather"    // the weather at a place, now or on the coming days
	IntentNews      Intent = "news"       // what happened lately
	IntentPerson    Intent = "person"     // who somebody is or was
	IntentFactCheck Intent = "fact_check" // whether a statement is true
	IntentForum     Intent = "forum"      // what people say about something
	IntentDocs      Intent = "docs"       // the reference of a program, a library or a format
	IntentHowTo     Intent = "howto"      // how something is done
	IntentImage     Intent = "image"
	IntentVideo     Intent = "video"
	IntentServer    Intent = "server" // what was said before in the server where it is asked; the web has no part in it
)
