package attachment

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
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

// Hear returns the words of a voice message, and the record of how they were got. Without a service or files nothing is heard. Neither is what
// is too large. Those are no errors.
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
