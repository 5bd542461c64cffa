// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// startTimeout is the time limit for the start of a server. It is long, because on a loaded machine a start may take
// many times the usual three seconds. A server that fails to start exits, which waitReady notices at once.
const startTimeout = 90 * time.Second

// waitReady waits until url returns status 200. It returns an error if the process ends or the time limit is reached.
func waitReady(ctx context.Context, p *process, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		said := probe(ctx, client, url)
		if said == nil {
			tick.Stop()
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%w, its log:\n%s", p.exited(), p.tail(tailLines))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w, its log:\n%s", p.name, startTimeout, said, p.tail(tailLines))
		case <-tick.C:
		}
	}
}

func probe(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1000))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return err
}

// onFreePort calls start with a port that is unused at this moment. Another process may take the port in the meantime.
// If the started process reports that, onFreePort tries again with another port.
func onFreePort(name string, start func(port int) (*process, string, error)) (string, error) {
	var failures []error
	for range 3 {
		port, err := freePort()
		if err != nil {
			return "", err
		}
		p, url, err := start(port)
		if err == nil {
			return url, nil
		}
		failures = append(failures, err)
		if p == nil || !strings.Contains(p.tail(50), "address already in use") {
			break
		}
	}
	return "", fmt.Errorf("%s does not start: %w", name, errors.Join(failures...))
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// untilFound waits until the server has the object.
func untilFound(ctx context.Context, reader client.Reader, key client.ObjectKey, obj client.Object) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := reader.Get(ctx, key, obj)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}
