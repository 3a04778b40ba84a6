package llmtest

import (
	"errors"
	"io"
	"strings"
	"testing"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	openai "github.com/sashabaranov/go-openai"
)

const script = `
usage 20 9 4
say "Hello, "
say Wörld
call terminal {"command":"ls"}
`

// The clients that people use accept this server: what our own clients are tested with is the real format.
func TestChatCompletionsLibrary(t *testing.T) {
	s := New(t, "-- 1 --"+script+"-- 2 --\nstatus 429 rate_limit_error slow down\n")
	c := openai.DefaultConfig(Key)
	c.BaseURL = s.URL + "/v1"
	client := openai.NewClientWithConfig(c)
	request := openai.ChatCompletionRequest{Model: "test-model", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "hi"}},
		StreamOptions: &openai.StreamOptions{IncludeUsage: true}}
	stream, err := client.CreateChatCompletionStream(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var text, arguments, finish string
	var used *openai.Usage
	for {
		chunk, err := stream.Recv()
		if err != nil {
			break
		}
		if chunk.Usage != nil {
			used = chunk.Usage
		}
		for _, choice := range chunk.Choices {
			text += choice.Delta.Content
			finish += string(choice.FinishReason)
			for _, call := range choice.Delta.ToolCalls {
				arguments += call.Function.Arguments
			}
		}
	}
	if text != "Hello, Wörld" || arguments != `{"command":"ls"}` || finish != "tool_calls" || used == nil || used.PromptTokens != 20 || used.CompletionTokens != 9 {
		t.Errorf("%q %q %q %+v", text, arguments, finish, used)
	}
	var e *openai.APIError
	if _, err := client.CreateChatCompletionStream(t.Context(), request); !errors.As(err, &e) || e.HTTPStatusCode != 429 || e.Message != "slow down" {
		t.Errorf("an error: %v", err)
	}
	if models, err := client.ListModels(t.Context()); err != nil || len(models.Models) != 1 {
		t.Errorf("models: %v %v", models, err)
	}
	if s.Left() != 0 {
		t.Errorf("%d turns are left", s.Left())
	}
}

func TestMessagesLibrary(t *testing.T) {
	s := New(t, "-- 1 --"+strings.Replace(script, "say \"", "think a thought\nsay \"", 1)+"-- 2 --\nstatus 529 overloaded_error Overloaded\n")
	service := anthropic.NewMessageService(option.WithBaseURL(s.URL), option.WithAPIKey(Key), option.WithMaxRetries(0))
	request := anthropic.MessageNewParams{Model: "test-model", MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))}}
	stream := service.NewStreaming(t.Context(), request)
	defer stream.Close()
	var message anthropic.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, block := range message.Content {
		kinds = append(kinds, string(block.Type))
	}
	if strings.Join(kinds, " ") != "thinking text tool_use" || message.Content[1].Text != "Hello, Wörld" || string(message.Content[2].Input) != `{"command":"ls"}` ||
		message.StopReason != "tool_use" || message.Usage.OutputTokens != 9 || message.Usage.CacheReadInputTokens != 4 {
		t.Errorf("%v %+v", kinds, message)
	}
	failed := service.NewStreaming(t.Context(), request)
	defer failed.Close()
	for failed.Next() {
		t.Error("an event of an error")
	}
	var e *anthropic.Error
	if !errors.As(failed.Err(), &e) || e.StatusCode != 529 {
		t.Errorf("an error: %v", failed.Err())
	}
}

// Why our own clients read the stream themselves: both libraries end a stream that was cut off in order without an error.
func TestLibrariesTakeHalfForWhole(t *testing.T) {
	s := New(t, "-- 1 --\nsay half\nclose\n-- 2 --\nsay half\nclose\n")
	c := openai.DefaultConfig(Key)
	c.BaseURL = s.URL + "/v1"
	stream, err := openai.NewClientWithConfig(c).CreateChatCompletionStream(t.Context(), openai.ChatCompletionRequest{Model: "test-model"})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for err == nil {
		_, err = stream.Recv()
	}
	if err != io.EOF {
		t.Errorf("chat completions: %v: the library tells now; package openai gives this as a reason", err)
	}
	service := anthropic.NewMessageService(option.WithBaseURL(s.URL), option.WithAPIKey(Key), option.WithMaxRetries(0))
	other := service.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "test-model", MaxTokens: 100})
	defer other.Close()
	for other.Next() {
	}
	if other.Err() != nil {
		t.Errorf("messages: %v: the library tells now; package anthropic gives this as a reason", other.Err())
	}
}

func TestParse(t *testing.T) {
	if _, err := Parse("say x\njump"); err == nil || !strings.Contains(err.Error(), `script:2: nobody knows the step "jump"`) {
		t.Errorf("%v", err)
	}
}
