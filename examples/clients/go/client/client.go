// Package client opens the tool service that the environment names: TOOLWIRE_SERVER, and TOOLWIRE_CA and TOOLWIRE_TOKEN
// if it needs them.
package client

import (
	"cmp"
	"context"
	"log"
	"net/url"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	toolwire "example.com/toolwire-clients/gen/toolwire/v1"
)

// Open returns the tool service. The program ends if it cannot.
func Open() toolwire.ToolServiceClient {
	server, err := url.Parse(cmp.Or(os.Getenv("TOOLWIRE_SERVER"), "http://127.0.0.1:50051"))
	if err != nil {
		log.Fatal(err)
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(transport(server.Scheme))}
	if value := os.Getenv("TOOLWIRE_TOKEN"); value != "" {
		options = append(options, grpc.WithPerRPCCredentials(token(value)))
	}
	connection, err := grpc.NewClient(server.Host, options...)
	if err != nil {
		log.Fatal(err)
	}
	return toolwire.NewToolServiceClient(connection)
}

func transport(scheme string) credentials.TransportCredentials {
	ca := os.Getenv("TOOLWIRE_CA")
	switch {
	case scheme == "http":
		return insecure.NewCredentials()
	case ca == "":
		return credentials.NewTLS(nil)
	}
	trusted, err := credentials.NewClientTLSFromFile(ca, "")
	if err != nil {
		log.Fatal(err)
	}
	return trusted
}

// token goes with every call.
type token string

func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(t)}, nil
}

// RequireTransportSecurity is false for servers behind a proxy that speaks TLS for them.
func (t token) RequireTransportSecurity() bool { return false }
