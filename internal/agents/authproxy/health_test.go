// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"net/http"
	"strings"
	"testing"
)

func TestReadinessReportsCredentialsThatWereKept(t *testing.T) {
	f := start(t, echo())
	if a := f.probe("/readyz"); a.code != http.StatusOK || !strings.Contains(a.body, "ready: 1 credential line(s) of "+f.secret.dir) {
		t.Errorf("answered %d %q", a.code, a.body)
	}
	f.secret.put(t, "htpasswd", "broken")
	f.reload("the reload fails", func() error {
		a := f.probe("/readyz")
		if a.code != http.StatusOK {
			t.Fatalf("answered %d %q", a.code, a.body)
		}
		return demand(strings.Contains(a.body, "still in use, because the last reload failed: there is no valid htpasswd line"), a.body)
	})
	f.expectCode(f.get("ada", "1"), http.StatusOK)
}

func TestMetricsCountWhatHappened(t *testing.T) {
	f := start(t, echo())
	f.get("ada", "1")
	f.get("ada", "1")
	f.get("ada", "2")
	f.get("", "")
	f.secret.put(t, "htpasswd", "broken")
	f.reload("the reload fails", func() error {
		return demand(f.metrics.failedReloads.Load() == 1, "not yet")
	})
	got := f.probe("/metrics").body
	for _, line := range []string{
		`opcrew_auth_proxy_requests_total{code="2xx"} 2`,
		`opcrew_auth_proxy_requests_total{code="4xx"} 2`,
		`opcrew_auth_proxy_requests_total{code="5xx"} 0`,
		`opcrew_auth_proxy_auth_failures_total{reason="missing"} 1`,
		`opcrew_auth_proxy_auth_failures_total{reason="wrong"} 1`,
		`opcrew_auth_proxy_auth_failures_total{reason="limited"} 0`,
		`opcrew_auth_proxy_in_flight_requests 0`,
		`opcrew_auth_proxy_cache_hits_total 1`,
		`opcrew_auth_proxy_reloads_total 1`,
		`opcrew_auth_proxy_reload_failures_total 1`,
		`opcrew_auth_proxy_upstream_errors_total 0`,
		`opcrew_auth_proxy_credentials 1`,
	} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("expected %q in:\n%s", line, got)
		}
	}
}

func TestTheLogHasNoSecret(t *testing.T) {
	f := start(t, echo())
	for _, password := range []string{"1", "hunter2"} {
		f.get("ada", password)
	}
	f.secret.put(t, "htpasswd", "ada:hunter2\n"+hashed(t, "ada", "hunter3"))
	f.reload("the new password is in force", func() error { return demand(f.metrics.reloads.Load() == 2, "not yet") })
	f.end()
	for _, secret := range []string{"hunter", "YWRh", "$2a$04"} {
		if strings.Contains(f.logs.String(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, f.logs.String())
		}
	}
}
