package turn

// Attachment is a file that hangs on a message. Name, Type and Alt are what its sender, or the sender's program, says of it.
// https://discord.com/developers/docs/resources/message#attachment-object
type Attachment struct {
	ID        string `json:"id"`
	MessageID string `json:"message_id"` // of the message that it came with, be it inside of a quote
	Name      string `json:"name"`       // without folders and control characters
	Type      string `json:"type,omitempty"`
	Size      int64  `json:"size"`          // bytes
	Alt       string `json:"alt,omitempty"` // description for those who do not see it
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	// Seconds is how long a recording is. 0: it is none, or it does not say.
	Seconds float64 `json:"seconds,omitempty"`
	Voice   bool    `json:"voice,omitempty"` // the message is this recording
	// URL is where the file is, for a while: it is a key to the file, and is never written down.
	URL string `json:"-"`
}

// Quote is what hangs on a message and is not its author's word: a forwarded message, or the preview of a link.
type Quote struct {
	Kind  QuoteKind    `json:"kind"`
	From  string       `json:"from,omitempty"`  // site or author of an embed, as it says itself
	Title string       `json:"title,omitempty"` // of an embed
	Text  string       `json:"text,omitempty"`
	Files []Attachment `json:"files,omitempty"` // of a forwarded message
}

// QuoteKind is what a quote is.
type QuoteKind string

const (
	Forwarded QuoteKind = "forwarded" // https://discord.com/developers/docs/resources/message#message-snapshot-object
	Embedded  QuoteKind = "embedded"  // https://discord.com/developers/docs/resources/message#embed-object
)

// Attached is what was offered to the model of something that hangs on a message.
type Attached struct {
	MessageID string `json:"message_id"`
	Name      string `json:"name,omitempty"` // of a file
	Type      string `json:"type,omitempty"` // of a file, by its bytes
	Size      int64  `json:"size,omitempty"` // bytes
	SHA256    string `json:"sha256,omitempty"`
	Width     int    `json:"width,omitempty"` // of a picture, before it was made smaller
	Height    int    `json:"height,omitempty"`
	Lines     int    `json:"lines,omitempty"`   // of a text
	Failure   Code   `json:"failure,omitempty"` // why it could not be shown
	Image     *Image `json:"image,omitempty"`   // what the model is shown of a picture

	// Open and Close stand around the contribution's text and are never cut. The text is cut at the end of a line, and CutNote is
	// put behind it then.
	Open    string `json:"open,omitempty"`
	Close   string `json:"close,omitempty"`
	CutNote string `json:"-"`
	Most    int    `json:"-"` // tokens that it may use of its layer; 0: all
}

// Image is a picture as models are shown it. Its bytes are on no record.
type Image struct {
	Label  string `json:"label"` // what the model is told of it
	Type   string `json:"type"`  // media type
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Tokens int    `json:"tokens"` // estimate
	Data   []byte `json:"-"`
}

// Transcript is what came of having a voice message written down, which leaves the machine for it.
type Transcript struct {
	MessageID string  `json:"message_id"`
	Host      string  `json:"host"` // of the service; empty: nothing left the machine
	Seconds   float64 `json:"seconds"`
	Bytes     int     `json:"bytes,omitempty"`
	Failure   Code    `json:"failure,omitempty"`
}
