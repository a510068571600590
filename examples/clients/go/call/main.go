// Lists tools, then calls one: arguments and result as JSON text.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"example.com/toolwire-clients/client"
	toolwire "example.com/toolwire-clients/gen/toolwire/v1"
)

func main() {
	tools := client.Open()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	filter := &toolwire.ListToolsRequest{Tags: []string{"positions"}, View: toolwire.ToolView_TOOL_VIEW_BASIC}
	listed, err := tools.ListTools(ctx, filter)
	if err != nil {
		log.Fatal(err)
	}
	for {
		response, err := listed.Recv()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("tool %s: %s\n", response.Tool.Name, response.Tool.Title)
	}

	arguments, _ := json.Marshal(map[string]string{"symbol": "AAPL"})
	response, err := tools.CallTool(ctx, &toolwire.CallToolRequest{
		Target:       &toolwire.CallToolRequest_Tool{Tool: "get_quotes"},
		Input:        &toolwire.CallToolRequest_ArgumentsJson{ArgumentsJson: string(arguments)},
		ResultFormat: toolwire.ResultFormat_RESULT_FORMAT_JSON,
	})
	if err != nil {
		log.Fatal(err)
	}
	result := response.GetResult()
	if failure := result.GetError(); failure != nil {
		log.Fatal(failure.Message)
	}
	var data struct {
		Quotes []struct {
			Symbol string
			Price  float64
		}
	}
	if err := json.Unmarshal([]byte(result.GetDataJson()), &data); err != nil {
		log.Fatal(err)
	}
	quote := data.Quotes[0]
	fmt.Printf("%s costs %v, says %s\n", quote.Symbol, quote.Price, result.Provenance.SourceIds[0])
}
