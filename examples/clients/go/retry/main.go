// Repeats a write until it has an answer. The same request_id says that it is the same write: it is done once.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/toolwire-clients/client"
	toolwire "example.com/toolwire-clients/gen/toolwire/v1"
)

var tools = client.Open()

// pauses are the waits before each attempt, unless the server asks for more.
var pauses = []time.Duration{0, 1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

func write(request *toolwire.CallToolRequest) string {
	var reason string
	var failure *toolwire.ToolError
	for attempt, pause := range pauses {
		time.Sleep(max(pause, failure.GetRetryAfter().AsDuration()))
		timeout := 5 * time.Second
		if attempt == 0 {
			timeout = 500 * time.Millisecond // shorter than the write, to show what follows
		}
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		response, err := tools.CallTool(ctx, request)
		cancel()
		failure = response.GetResult().GetError()
		switch code := status.Code(err); {
		case code == codes.OK && failure == nil:
			return response.GetResult().GetDataJson()
		case code == codes.OK && failure.Retryable:
			reason = failure.Message
		case code == codes.OK:
			log.Fatal(failure.Message)
		case code == codes.Unavailable || code == codes.DeadlineExceeded:
			reason = "no answer"
		default:
			log.Fatal(err)
		}
		fmt.Printf("attempt %d: %s\n", attempt+1, reason)
	}
	log.Fatal("given up: ", reason)
	return ""
}

func main() {
	request := &toolwire.CallToolRequest{
		Target:       &toolwire.CallToolRequest_Tool{Tool: "debug_write"},
		Input:        &toolwire.CallToolRequest_ArgumentsJson{ArgumentsJson: `{"value": "x", "duration": "1s"}`},
		RequestId:    uuid.NewString(),
		ResultFormat: toolwire.ResultFormat_RESULT_FORMAT_JSON,
	}
	first := write(request)
	var data struct{ Value string }
	if err := json.Unmarshal([]byte(first), &data); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s is written\n", data.Value)
	if write(request) == first {
		fmt.Println("the repeat has the same data")
	}
}
