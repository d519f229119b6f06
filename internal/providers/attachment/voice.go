package attachment

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

const (
	MaxVoiceBytes   = 25 << 20         // of a recording; the limit of OpenAI
	MaxSeconds      = 600              // of a recording
	transcribeLimit = 60 * time.Second // for a recording
	maxReply        = 1 << 20          // bytes
	maxTranscript   = 20_000           // bytes; ten minutes of speech have fewer
)

// Transcriber transcribes voice messages. The operator chooses the service, hosted or local: any with OpenAI's /audio/transcriptions
// (https://platform.openai.com/docs/api-reference/audio/createTranscription). Every field except Key is required.
type Transcriber struct {
	HTTP    *http.Client // of the service's origin
	BaseURL string       // up to and including the version: "https://api.openai.com/v1"
	Key     string       // bearer key; empty: none
	Model   string       // "whisper-1"
}

// TranscribeError is why a recording was not transcribed. Its text contains neither the service's reply nor the key.
type TranscribeError struct {
	Code   turn.Code
	Status int // HTTP status; 0: none
}

func (e *TranscribeError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("transcribe: %s (status %d)", e.Code, e.Status)
	}
	return "transcribe: " + string(e.Code)
}

// Host returns the host that receives the recordings.
func (s *Transcriber) Host() string { return clean.ShownHost(s.BaseURL) }

// Text returns the transcript of a recording. The error is a [*TranscribeError]; its code is CodeEmpty if the recording has no words.
func (s *Transcriber) Text(ctx context.Context, recording []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, transcribeLimit)
	defer cancel()
	req, err := s.request(ctx, recording)
	if err != nil {
		return "", &TranscribeError{Code: turn.CodeInternal}
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return "", broken(ctx)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	switch {
	case err != nil:
		return "", broken(ctx)
	case resp.StatusCode == http.StatusRequestEntityTooLarge:
		return "", &TranscribeError{turn.CodeTooLarge, resp.StatusCode}
	case resp.StatusCode != http.StatusOK:
		return "", &TranscribeError{refusal(resp.StatusCode), resp.StatusCode}
	}
	var heard struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(body, &heard) != nil || heard.Text == nil {
		return "", &TranscribeError{turn.CodeMalformed, resp.StatusCode}
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(*heard.Text, "")), " ")
	if text == "" {
		return "", &TranscribeError{Code: turn.CodeEmpty}
	}
	return strings.ToValidUTF8(text[:min(len(text), maxTranscript)], ""), nil
}

// Hear returns the words of a voice message, and the record of how they were obtained. Without a service or files nothing is heard. Neither is what
// is too large. Those are not errors.
func (s *Transcriber) Hear(ctx context.Context, files *Files, m turn.Message, f turn.Attachment) (words string, record turn.Transcript, err error) {
	record = turn.Transcript{MessageID: m.ID, Seconds: f.Seconds}
	switch {
	case s == nil || files == nil:
		record.Failure = turn.CodeNotConfigured
		return "", record, nil
	case f.Size > MaxVoiceBytes || f.Seconds > MaxSeconds:
		record.Failure = turn.CodeTooLarge
		return "", record, nil
	}
	recording, err := files.Download(ctx, m.ChannelID, f, MaxVoiceBytes)
	if err != nil {
		record.Failure = turn.CodeUnreachable
		return "", record, fmt.Errorf("load a voice message: %w", err)
	}
	record.Host, record.Bytes = s.Host(), len(recording)
	words, err = s.Text(ctx, recording)
	if failed, ok := errors.AsType[*TranscribeError](err); ok {
		record.Failure = failed.Code
	}
	return words, record, err
}

//go:embed silence.ogg
var silence []byte // of one second

// Try transcribes silence, to check the service. The error is a [*TranscribeError].
func (s *Transcriber) Try(ctx context.Context) error {
	_, err := s.Text(ctx, silence)
	if failed, ok := errors.AsType[*TranscribeError](err); ok && failed.Code == turn.CodeEmpty {
		return nil
	}
	return err
}

func refusal(status int) turn.Code {
	if code := api.CodeOf(status); code != "" {
		return code
	}
	return turn.CodeMalformed
}

func broken(ctx context.Context) *TranscribeError {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &TranscribeError{Code: turn.CodeTimeout}
	}
	return &TranscribeError{Code: turn.CodeUnreachable}
}

// request returns the form with a recording. Its file name does not reveal the sender.
func (s *Transcriber) request(ctx context.Context, recording []byte) (*http.Request, error) {
	var form bytes.Buffer
	form.Grow(len(recording) + 1<<10)
	w := multipart.NewWriter(&form)
	errs := []error{w.WriteField("model", s.Model), w.WriteField("response_format", "json")}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="voice-message.ogg"`}, "Content-Type": {"audio/ogg"},
	})
	if err == nil {
		_, err = part.Write(recording)
	}
	if err = errors.Join(append(errs, err, w.Close())...); err != nil {
		return nil, fmt.Errorf("write form: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.BaseURL, "/")+"/audio/transcriptions", &form)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	return req, nil
}

const (
	maxRecording  = 8 << 20          // bytes; Discord takes 10 MiB
	speechLimit   = 45 * time.Second // for a recording
	longestSpoken = 20 * time.Minute
	opusRate      = 48_000 // the units of an Ogg Opus file in a second, whatever was recorded (RFC 7845, section 4)
	mostAmplitude = 256    // in the waveform of a voice message
)

// Speaker makes recordings of words. The operator chooses the service, hosted or local: any with OpenAI's /audio/speech that can answer in
// Opus (https://platform.openai.com/docs/api-reference/audio/createSpeech).
type Speaker struct {
	Model string // "tts-1"
	Voice string // a name that the service knows: "alloy"

	endpoint *api.Endpoint
	key      string
}

// NewSpeaker makes a speaker for the service at base, which has its version at the end. An empty key is none.
func NewSpeaker(base, key, model, voice, agent string, client func(origin string) *http.Client) (*Speaker, error) {
	endpoint, err := api.NewEndpoint(base, client)
	if err != nil {
		return nil, err
	}
	endpoint.UserAgent, endpoint.MaxBody = agent, maxRecording
	return &Speaker{Model: model, Voice: voice, endpoint: endpoint, key: key}, nil
}

// Host returns the host that receives the words.
func (s *Speaker) Host() string { return clean.ShownHost(s.endpoint.Address()) }

// Say returns a recording of some words. The error is an [*api.Failure], whose code is returned, too.
func (s *Speaker) Say(ctx context.Context, words string) (*turn.Recording, turn.Code, error) {
	ctx, cancel := context.WithTimeout(ctx, speechLimit)
	defer cancel()
	header := http.Header{}
	if s.key != "" {
		header.Set("Authorization", "Bearer "+s.key)
	}
	data, err := s.endpoint.Text(ctx, api.Request{Path: "/audio/speech", Header: header, Body: map[string]string{
		"model": s.Model, "voice": s.Voice, "input": words, "response_format": "opus",
	}})
	if failed, ok := errors.AsType[*api.Failure](err); ok {
		return nil, failed.Code, err
	}
	recording, ok := readOpus(data)
	if !ok {
		return nil, turn.CodeMalformed, &api.Failure{Code: turn.CodeMalformed, Detail: "the reply is no recording in Ogg Opus; does the service know response_format opus?"}
	}
	return recording, "", nil
}

// readOpus reads how long an Ogg Opus file is, and its waveform. Nothing is decoded: a packet of Opus is the larger the more there is to
// hear. So the waveform follows the sizes of the packets. ok is false for another file, and for one that is too long or holds nothing.
// https://www.rfc-editor.org/rfc/rfc7845
func readOpus(data []byte) (r *turn.Recording, ok bool) {
	packets, end, ok := oggPackets(data)
	if !ok || len(packets) < 3 || len(packets[0]) < 19 || !bytes.HasPrefix(packets[0], []byte("OpusHead")) || !bytes.HasPrefix(packets[1], []byte("OpusTags")) {
		return nil, false
	}
	skipped := binary.LittleEndian.Uint16(packets[0][10:])
	seconds := float64(end-int64(skipped)) / opusRate
	if seconds <= 0 || seconds > longestSpoken.Seconds() {
		return nil, false
	}
	var sizes []int
	for _, p := range packets[2:] {
		sizes = append(sizes, len(p))
	}
	return &turn.Recording{Data: data, Seconds: seconds, Waveform: waveform(sizes, min(mostAmplitude, max(1, int(seconds*10))))}, true
}

// oggPackets returns the packets of an Ogg file with one stream, and the last position that it gives.
// https://www.rfc-editor.org/rfc/rfc3533
func oggPackets(data []byte) (packets [][]byte, end int64, ok bool) {
	const head = 27
	var open []byte // a packet that goes on
	for len(data) > 0 {
		if len(data) < head || !bytes.HasPrefix(data, []byte("OggS")) {
			return nil, 0, false
		}
		lacing, body := int(data[head-1]), head+int(data[head-1])
		if len(data) < body {
			return nil, 0, false
		}
		if at := int64(binary.LittleEndian.Uint64(data[6:])); at > 0 {
			end = at
		}
		for _, n := range data[head : head+lacing] {
			if len(data) < body+int(n) {
				return nil, 0, false
			}
			open = append(open, data[body:body+int(n)]...)
			if body += int(n); n < 255 {
				packets, open = append(packets, open), nil
			}
		}
		data = data[body:]
	}
	return packets, end, true
}

// waveform returns n amplitudes that follow the mean sizes of packets. If all are of one size, so are these.
func waveform(sizes []int, n int) []byte {
	n = min(n, len(sizes))
	least, most := slices.Min(sizes), slices.Max(sizes)
	all := make([]byte, n)
	for i := range all {
		part := sizes[i*len(sizes)/n : (i+1)*len(sizes)/n]
		sum := 0
		for _, size := range part {
			sum += size - least
		}
		if all[i] = 128; most > least {
			all[i] = byte(sum * 255 / (len(part) * (most - least)))
		}
	}
	return all
}
