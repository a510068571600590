// Reads objects of the Prometheus operator, a JSON document each, into its own types, and refuses what they lack. There are
// no definitions of them in a registry.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

func main() {
	for documents := json.NewDecoder(os.Stdin); ; {
		var document json.RawMessage
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fail(err)
		}
		if err := read(document); err != nil {
			fail(err)
		}
	}
}

func read(document []byte) error {
	var named struct{ Kind string }
	if err := json.Unmarshal(document, &named); err != nil {
		return err
	}
	kinds := map[string]any{"ServiceMonitor": &monitoring.ServiceMonitor{}, "PrometheusRule": &monitoring.PrometheusRule{}}
	kind, found := kinds[named.Kind]
	if !found {
		return fmt.Errorf("%q is none of the operator's kinds", named.Kind)
	}
	strict := json.NewDecoder(bytes.NewReader(document))
	strict.DisallowUnknownFields()
	return strict.Decode(kind)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
