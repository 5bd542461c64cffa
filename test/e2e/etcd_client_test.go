// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/e2e/etcdclient"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// startClient starts a client that continuously sends requests to the URLs of the members.
func (e *etcdTest) startClient(t *testing.T) *etcdclient.Client {
	t.Helper()
	var urls []string
	for _, p := range e.pods(t) {
		urls = append(urls, e.clientURL(p.Name))
	}
	c, err := etcdclient.Start(t.Context(), etcdclient.Options{URLs: urls, TLS: e.security, Dial: e.dial, Prefix: fmt.Sprintf("opcrew/%d/", time.Now().UnixNano())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// served is how many requests a client must complete before and after a change of its cluster, so that the test is
// meaningful.
const served = 100

// awaitServed waits until a client has completed 100 further requests (see served).
func awaitServed(t *testing.T, c *etcdclient.Client, when string) {
	t.Helper()
	before := c.Totals()
	eventually.True(t, 2*time.Minute, "clients are served "+when, func() error {
		now := c.Totals()
		if well := now.Requests - len(now.Failed); well < before.Requests-len(before.Failed)+served {
			return fmt.Errorf("only %d requests were completed", well)
		}
		return nil
	})
}

// during calls happens while a client sends requests to the etcd cluster. The client must see no violation of etcd's
// guarantees. If away is false, all requests of the client must also succeed.
func (e *etcdTest) during(t *testing.T, what string, away bool, happens func()) {
	t.Helper()
	c := e.startClient(t)
	stopped := false
	defer func() { // if the test has failed, log what its client observed
		if !stopped {
			report, violations := c.Abandon()
			t.Logf("during %s: %s\n%s", what, report, strings.Join(violations, "\n"))
		}
	}()
	awaitServed(t, c, "before "+what)
	happens()
	awaitServed(t, c, "after "+what)
	stopped = true
	report, violations := c.Stop(2 * time.Minute)
	t.Logf("during %s: %s", what, report)
	if len(violations) > 0 {
		t.Errorf("during %s, the client found %d violations:\n%s", what, len(violations), strings.Join(violations, "\n"))
	}
	if n := len(report.Failed); n > 0 && !away {
		t.Errorf("during %s, %d of %d requests failed, the first: %+v", what, n, report.Requests, report.Failed[0])
	}
}
