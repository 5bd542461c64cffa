// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

const waiting = 30 * time.Second

// agent is a running agent in a test pod. The servers of the pod may or may not be running.
type agent struct {
	*testing.T
	pod *redistest.Pod
	o   Options
}

func start(t *testing.T, change func(*Options)) *agent {
	t.Helper()
	pod := redistest.New(t)
	o := Options{
		Cluster: "shop", Secrets: pod.Secrets, Home: pod.Home.Port, Guest: pod.Guest.Port,
		Probes: redistest.FreePort(t), Metrics: redistest.FreePort(t), Page: redistest.FreePort(t), Names: []string{"shop-ui.web.svc"},
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o, clock.RealClock{}, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the agent ended: %v", err)
		}
	})
	a := &agent{t, pod, o}
	eventually.True(t, waiting, "the agent lives", func() error {
		_, err := get(http.DefaultClient, "http://"+local(o.Probes)+"/live", "", "")
		return err
	})
	return a
}

// answer is the response to a request.
type answer struct {
	code   int
	header http.Header
	text   string
}

func get(client *http.Client, url, user, password string) (answer, error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	if user != "" {
		request.SetBasicAuth(user, password)
	}
	got, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return answer{got.StatusCode, got.Header, string(text)}, err
}

func trusting() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
}

// page requests the status page, or another path.
func (a *agent) page(path, user, password string) answer {
	a.Helper()
	got, err := get(trusting(), "https://"+local(a.o.Page)+path, user, password)
	if err != nil {
		a.Fatal(err)
	}
	return got
}

// ready waits until the pod is ready; if a reason is given, it waits until the pod is not ready for that reason.
func (a *agent) ready(reason string) {
	a.Helper()
	eventually.True(a.T, waiting, "the pod is ready, or not since "+reason, func() error {
		got, err := get(http.DefaultClient, "http://"+local(a.o.Probes)+"/ready", "", "")
		switch {
		case err != nil:
			return err
		case reason == "" && got.code == http.StatusOK, reason != "" && got.code == http.StatusServiceUnavailable && strings.Contains(got.text, reason):
			return nil
		}
		return errors.New(got.text)
	})
}

// form creates a cluster of only this pod. The second server of the pod (guest) becomes the replica of the first one
// (home).
func (a *agent) form() {
	a.Helper()
	home, guest := a.pod.Home, a.pod.Guest
	home.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	guest.Replicate(home)
}

// lead makes a replica the primary. CLUSTER FAILOVER only starts an attempt, which may fail after five seconds, so lead
// repeats the command.
func lead(s *redistest.Server) {
	var asked time.Time
	s.Eventually("a replica becomes the primary", func() error {
		if strings.Contains(s.Do("INFO", "replication"), "role:master") {
			return nil
		}
		if time.Since(asked) > 6*time.Second {
			asked = time.Now()
			s.Do("CLUSTER", "FAILOVER")
		}
		return errors.New("it is a replica")
	})
}
