// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// TestAgentsGetTheCredentialsAgainWhenTheCAChanges adds a certificate to the CA, as the first step of a renewal does.
func TestAgentsGetTheCredentialsAgainWhenTheCAChanges(t *testing.T) {
	process := env.Operator(t)
	machineagents.Follow(t, env.Client)
	ca, file := env.Deployed(t).CAData, filepath.Join(t.TempDir(), "ca.crt")
	names := nodesOf(t, "renewed", 2)
	create(t, newConfig("renewed", "50-renewed", "hello"), newPool("renewed", needsNothing))
	awaitUpdated(t, "renewed", 2, "")
	for _, bundle := range [][]byte{ca, append(append([]byte{}, ca...), ca...)} {
		if err := os.WriteFile(file, bundle, 0o600); err != nil {
			t.Fatal(err)
		}
		process.Stop()
		process.StartTrusting(file)
		operator.Until(t, "all agents are installed with the CA of the operator", func() error {
			for _, name := range names {
				if mark := node(t, name).Annotations["opcrew.io/machine-agent"]; !strings.HasSuffix(mark, " "+machineorder.Fingerprint(bundle)) {
					return fmt.Errorf("%s has the annotation %q", name, mark)
				}
			}
			return nil
		})
	}
	process.ExpectNoWork(func() {
		merge(t, pool(t, "renewed"), `{"metadata":{"annotations":{"example.com/seen":"1"}}}`)
	})
}
