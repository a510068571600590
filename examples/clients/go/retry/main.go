// Repeats a write whose answer was lost. The same request_id says that it is the same write: it is done once.
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

func write(request *toolwire.CallToolRequest) string {
	for attempt, timeout := range []time.Duration{500 * time.Millisecond, 5 * time.Second, 5 * time.Second} {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		response, err := tools.CallTool(ctx, request)
		cancel()
		switch status.Code(err) {
		case codes.OK:
			return response.GetResult().GetDataJson()
		case codes.Unavailable, codes.DeadlineExceeded:
			fmt.Printf("attempt %d: no answer\n", attempt+1)
		default:
			log.Fatal(err)
		}
	}
	log.Fatal("no answer at all")
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
		fmt.Println("the repeat has the same answer")
	}
}
