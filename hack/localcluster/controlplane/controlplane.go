// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs etcd, the API server, the controller manager and the scheduler as services of the control
// plane's machine. It also runs a kube-proxy, through which this host reaches Services. Package node runs nodes.
package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/pki"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Start writes all configuration, and starts etcd and the API server, in any order, as both retry. The API server takes
// longest to start. Once it is ready, StartClients starts the other components.
func Start(st *state.State) error {
	if err := os.MkdirAll(filepath.Dir(st.AuditLog()), 0o755); err != nil {
		return err
	}
	if err := state.WriteFile(auditPolicyFile(st), []byte(auditPolicy), 0o644); err != nil {
		return err
	}
	return run(st, etcd(st), apiServer(st))
}

// StartClients starts the components that are clients of the API server.
func StartClients(st *state.State) error {
	for name, user := range map[string]string{
		controllerManagerName: "system:kube-controller-manager",
		schedulerName:         "system:kube-scheduler",
		proxyName:             "system:kube-proxy",
	} {
		if err := pki.ClientKubeconfig(st, kubeconfig(st, name), user); err != nil {
			return err
		}
	}
	if err := writeConfigs(st); err != nil {
		return err
	}
	return run(st, controllerManager(st), scheduler(st), proxy(st))
}

func run(st *state.State, services ...machine.Service) error {
	for _, s := range services {
		if err := machine.Run(st, state.ControlPlaneName, s); err != nil {
			return err
		}
	}
	return nil
}

// AwaitReady waits until the API server reports that it is ready.
func AwaitReady(ctx context.Context, st *state.State) error {
	for {
		err := Ready(ctx, st)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server is not ready: %w\netcd:\n%s\nkube-apiserver:\n%s", err,
				machine.LogTail(st, state.ControlPlaneName, etcdName, 5),
				machine.LogTail(st, state.ControlPlaneName, apiServerName, 15))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Ready returns an error unless the API server reports that it is ready.
func Ready(ctx context.Context, st *state.State) error {
	client, err := httpClient(st)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, pki.Server(st)+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New("/readyz: " + response.Status)
	}
	return nil
}

func httpClient(st *state.State) (*http.Client, error) {
	ca, err := os.ReadFile(pki.File(st, pki.ClusterAuthority, ".crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	// No Proxy is set, because a proxy from the environment cannot reach the cluster's addresses.
	return &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}, nil
}

func kubeconfig(st *state.State, name string) string {
	return filepath.Join(st.MachineDir(state.ControlPlaneName), name+".kubeconfig")
}

func config(st *state.State, name string) string {
	return filepath.Join(st.MachineDir(state.ControlPlaneName), name+".yaml")
}

func auditPolicyFile(st *state.State) string { return config(st, "audit-policy") }
