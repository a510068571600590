// Reads the two kinds of failure: a tool that failed, in the result, and a call that was refused, in the status.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"example.com/toolwire-clients/client"
	toolwire "example.com/toolwire-clients/gen/toolwire/v1"
)

var tools = client.Open()

func call(tool, argumentsJSON string) (*toolwire.ToolResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	response, err := tools.CallTool(ctx, &toolwire.CallToolRequest{
		Target: &toolwire.CallToolRequest_Tool{Tool: tool},
		Input:  &toolwire.CallToolRequest_ArgumentsJson{ArgumentsJson: argumentsJSON},
	})
	return response.GetResult(), err
}

func main() {
	result, err := call("get_performance", `{"timefram": "YTD"}`)
	if err != nil {
		log.Fatal(err)
	}
	for _, violation := range result.GetError().GetFieldViolations() {
		fmt.Printf("%s breaks %s: %s\n", violation.Pointer, violation.Rule, violation.Description)
	}

	result, err = call("debug_fail", `{"code": "RATE_LIMITED", "retry_after": "2s"}`)
	if err != nil {
		log.Fatal(err)
	}
	if failure := result.GetError(); failure.GetRetryable() {
		fmt.Printf("%s: again in %d s\n", failure.Message, failure.RetryAfter.Seconds)
	}

	_, err = call("get_quote", "{}")
	refusal := status.Convert(err)
	for _, detail := range refusal.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			fmt.Printf("refused, %s: %s\n", info.Reason, refusal.Message())
		}
	}
}
