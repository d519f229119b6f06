// Package transcribe has voice messages written down by a service that the operator chose: any that speaks OpenAI's
// /audio/transcriptions (https://platform.openai.com/docs/api-reference/audio/createTranscription), hosted or local.
package transcribe

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
)

const (
	MaxBytes   = 25 << 20         // of a recording; OpenAI takes no more
	MaxSeconds = 600              // of a recording
	limit      = 60 * time.Second // for one recording
	maxReply   = 1 << 20          // bytes
	maxText    = 20_000           // bytes of a transcript that are kept: ten minutes have fewer
)

// Service writes recordings down. Every field but Key is required.
type Service struct {
	HTTP    *http.Client // of the service's origin
	BaseURL string       // up to and including the version: "https://api.openai.com/v1"
	Key     string       // bearer key; empty for servers that want none
	Model   string       // "whisper-1"
}

// Error is why a recording was not written down. It quotes neither the service nor the key.
type Error struct {
	Code   turn.Code
	Status int // HTTP status, 0 if there was none
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("transcribe: %s (status %d)", e.Code, e.Status)
	}
	return "transcribe: " + string(e.Code)
}

// Host is where recordings go.
func (s *Service) Host() string { return api.Host(s.BaseURL) }

// Text returns what is said in a recording: one with no words is CodeEmpty. The error is an [*Error].
func (s *Service) Text(ctx context.Context, recording []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := s.request(ctx, recording)
	if err != nil {
		return "", &Error{Code: turn.CodeInternal}
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
		return "", &Error{turn.CodeTooLarge, resp.StatusCode}
	case resp.StatusCode != http.StatusOK:
		return "", &Error{refusal(resp.StatusCode), resp.StatusCode}
	}
	var heard struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(body, &heard) != nil || heard.Text == nil {
		return "", &Error{turn.CodeMalformed, resp.StatusCode}
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(*heard.Text, "")), " ")
	if text == "" {
		return "", &Error{Code: turn.CodeEmpty}
	}
	return strings.ToValidUTF8(text[:min(len(text), maxText)], ""), nil
}

//go:embed silence.ogg
var silence []byte // for a second

// Try has silence written down, which needs all that a recording needs. The error is an [*Error].
func (s *Service) Try(ctx context.Context) error {
	_, err := s.Text(ctx, silence)
	if failed, ok := errors.AsType[*Error](err); ok && failed.Code == turn.CodeEmpty {
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

func broken(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Code: turn.CodeTimeout}
	}
	return &Error{Code: turn.CodeUnreachable}
}

// request is the form with a recording. Its name is ours: whoever sent it is not named to the service.
func (s *Service) request(ctx context.Context, recording []byte) (*http.Request, error) {
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
