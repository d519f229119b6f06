package llm

import (
	"net/http"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/test/llmtest"
)

// pictured returns a question with a picture.
func pictured() Request {
	return Request{Messages: []turn.Rendered{
		{Role: "system", Text: "Be brief."},
		{Role: "user", Text: "What is this?", Images: []turn.Image{{Label: `Picture 1: "cat.png".`, Type: "image/jpeg", Data: []byte("\xff\xd8 a cat")}}},
	}}
}

func TestPicturesAreSent(t *testing.T) {
	server := llmtest.New(t)
	c := &Client{HTTP: http.DefaultClient, BaseURL: server.URL, Model: "sees"}
	a, err := c.Complete(t.Context(), pictured())
	if err != nil || a.Blind || !c.Sees() {
		t.Fatalf("%+v, %v", a, err)
	}
	r := server.Requests()[0]
	if all := r.Images(); len(all) != 1 || all[0].Type != "image/jpeg" || string(all[0].Data) != "\xff\xd8 a cat" {
		t.Errorf("%+v", all)
	}
	if last := r.Last(); !strings.HasPrefix(last, "What is this?") || !strings.Contains(last, `Picture 1: "cat.png".`) {
		t.Errorf("%q", last)
	}
}

// These are the replies of servers to a picture that the model does not take.
func TestModelsThatCannotSee(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		blind  bool // remembered
		calls  int
	}{
		{"OpenAI", 400, llmtest.OpenAIError("Invalid content type. image_url is only supported by certain models.", "invalid_request_error", ""), true, 3},
		{"DeepSeek", 400, llmtest.OpenAIError("Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`", "invalid_request_error", ""), true, 3},
		{"OpenRouter", 404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, true, 3},
		{"llama.cpp", 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, true, 3},
		{"vLLM", 400, `{"object":"error","message":"At most 0 image(s) may be provided in one request.","type":"BadRequestError","code":400}`, true, 3},
		{"Mistral", 422, `{"detail":[{"type":"string_type","loc":["body","messages",1,"content"],"msg":"Input should be a valid string"}]}`, true, 3},
		{"without a word", 400, `{"error":"bad request"}`, true, 3},
		{"a request too large", 413, llmtest.OpenAIError("request too large", "request_too_large", ""), false, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := llmtest.New(t)
			server.Reply = func(r llmtest.Request) llmtest.Reply {
				if len(r.Images()) > 0 {
					return llmtest.Reply{llmtest.Error(tt.status, tt.body)}
				}
				return llmtest.Reply{llmtest.Say("I only read.")}
			}
			c := &Client{HTTP: http.DefaultClient, BaseURL: server.URL, Model: "reads"}
			for range 2 {
				a, err := c.Complete(t.Context(), pictured())
				if err != nil || a.Text != "I only read." || !a.Blind {
					t.Fatalf("%+v, %v", a, err)
				}
				if !tt.blind {
					break
				}
			}
			all := server.Requests()
			if c.Sees() == tt.blind || tt.blind && len(all) != tt.calls {
				t.Errorf("sees %v after %d requests", c.Sees(), len(all))
			}
			if last := all[len(all)-1].Last(); !strings.Contains(last, `cannot see pictures: Picture 1: "cat.png".`) {
				t.Errorf("%q", last)
			}
		})
	}
}

func TestForcedPicturesAreSentEachTime(t *testing.T) {
	server := llmtest.New(t)
	server.Blind = true
	c := &Client{HTTP: http.DefaultClient, BaseURL: server.URL, Model: "reads", Forced: true}
	for range 2 {
		if a, err := c.Complete(t.Context(), pictured()); err != nil || !a.Blind {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if n := len(server.Requests()); n != 4 || !c.Sees() {
		t.Errorf("%d requests, sees %v", n, c.Sees())
	}
}

// Other errors do not mean that the model cannot see.
func TestOtherErrorsLeavePictures(t *testing.T) {
	server := llmtest.New(t)
	server.Queue(llmtest.Reply{llmtest.Error(503, "")}, llmtest.Reply{llmtest.Say("A cat.")})
	c := &Client{HTTP: http.DefaultClient, BaseURL: server.URL, Model: "sees"}
	a, err := c.Complete(t.Context(), pictured())
	if err != nil || a.Blind || !c.Sees() || len(server.Requests()[1].Images()) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestPicturesWhereRolesMustAlternate(t *testing.T) {
	r := pictured()
	r.Messages = append([]turn.Rendered{r.Messages[0], {Role: "user", Text: "Earlier."}}, r.Messages[1])
	sent := compat{plain: true}.messages(r.Messages)
	if len(sent) != 1 || len(sent[0].MultiContent) != 4 || sent[0].Content != "" {
		t.Errorf("%+v", sent)
	}
}
