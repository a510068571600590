// Follows the events of a call, lets a deadline pass, and cancels a call.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/toolwire-clients/client"
	toolwire "example.com/toolwire-clients/gen/toolwire/v1"
)

var tools = client.Open()

// invoke calls a tool and hands over its events until the stream ends.
func invoke(ctx context.Context, tool, argumentsJSON string, each func(*toolwire.CallEvent)) error {
	events, err := tools.InvokeTool(ctx, &toolwire.InvokeToolRequest{
		Target: &toolwire.InvokeToolRequest_Tool{Tool: tool},
		Input:  &toolwire.InvokeToolRequest_ArgumentsJson{ArgumentsJson: argumentsJSON},
	})
	if err != nil {
		return err
	}
	for {
		response, err := events.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		each(response.Event)
	}
}

func kind(event *toolwire.CallEvent) string {
	message := event.ProtoReflect()
	return string(message.WhichOneof(message.Descriptor().Oneofs().ByName("event")).Name())
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := invoke(ctx, "debug_stream", `{"count": 2}`, func(event *toolwire.CallEvent) {
		fmt.Printf("event %d: %s\n", event.Sequence, kind(event))
	})
	if err != nil {
		log.Fatal(err)
	}

	short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	err = invoke(short, "debug_sleep", `{"duration": "60s"}`, func(*toolwire.CallEvent) {})
	if status.Code(err) != codes.DeadlineExceeded {
		log.Fatal(err)
	}
	fmt.Println("the deadline passed")

	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	arguments := `{"duration": "60s", "progress_interval": "0.1s"}`
	err = invoke(cancelled, "debug_sleep", arguments, func(event *toolwire.CallEvent) {
		if event.GetProgress() != nil {
			cancel()
		}
	})
	if status.Code(err) != codes.Canceled {
		log.Fatal(err)
	}
	fmt.Println("the call was cancelled")
}
