// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

const serviceName = "registry"

// Start starts the registry as a service of the control plane. The registry builds images on demand. Its builds use the
// programs, caches and proxies of the user who called `localcluster up`.
func Start(st *state.State) error {
	temporary := filepath.Join(st.MachineDir(state.ControlPlaneName), serviceName)
	if err := os.MkdirAll(temporary, 0o700); err != nil {
		return fmt.Errorf("create a folder for builds: %w", err)
	}
	return machine.Run(st, state.ControlPlaneName, machine.Service{
		Name: serviceName,
		Args: []string{st.Binary(machine.Program), CommandName, "--listen", network.Registry(st.Network).String(), "--outside", network.HostNamespace(st)},
		// If `localcluster down` ends a build, it also removes the build's temporary files, because they are in the
		// machine's folder.
		Env: append(buildEnvironment(os.Environ()), "TMPDIR="+temporary),
	})
}

// buildEnvironment selects the variables that builds need. It leaves out all other variables, so that they are not
// stored in the file that specifies the service.
func buildEnvironment(all []string) []string {
	names := []string{"PATH", "HOME", "XDG_CACHE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"}
	wanted := func(name string) bool {
		return slices.Contains(names, name) || strings.HasPrefix(name, "GO") || strings.HasSuffix(strings.ToLower(name), "_proxy")
	}
	var kept []string
	for _, variable := range all {
		if name, _, _ := strings.Cut(variable, "="); wanted(name) {
			kept = append(kept, variable)
		}
	}
	slices.Sort(kept)
	return kept
}

// Await waits until the registry responds to requests.
func Await(ctx context.Context, st *state.State) error {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{}} // without a proxy
	defer client.CloseIdleConnections()
	for {
		err := ask(ctx, client, "http://"+network.Registry(st.Network).String()+"/v2/")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the registry does not respond: %w\n%s", err, machine.LogTail(st, state.ControlPlaneName, serviceName, 15))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ask(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	return nil
}
