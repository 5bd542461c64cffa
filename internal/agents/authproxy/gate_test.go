// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/shared/limiter"
)

func TestOnlyARightPasswordReachesTheApplication(t *testing.T) {
	f := start(t, echo())
	for _, test := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"nothing", nil, http.StatusUnauthorized},
		{"ada with her password", []string{"Basic YWRhOjE="}, http.StatusOK},
		{"the scheme in other letters", []string{"bAsIc YWRhOjE="}, http.StatusOK},
		{"a wrong password", []string{"Basic YWRhOjI="}, http.StatusUnauthorized},
		{"a user who is not there", []string{"Basic Ym9iOjE="}, http.StatusUnauthorized},
		{"another scheme", []string{"Bearer YWRhOjE="}, http.StatusUnauthorized},
		{"no base64", []string{"Basic ada:1"}, http.StatusUnauthorized},
		{"no colon", []string{"Basic YWRh"}, http.StatusUnauthorized},
		{"no user", []string{"Basic OjE="}, http.StatusUnauthorized},
		{"a NUL behind the right password", []string{"Basic YWRhOjEAMQ=="}, http.StatusUnauthorized},
		{"the right header twice", []string{"Basic YWRhOjE=", "Basic YWRhOjE="}, http.StatusUnauthorized},
		{"a wrong header after the right one", []string{"Basic YWRhOjE=", "Basic YWRhOjI="}, http.StatusUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := f.request("", "")
			r.Header["Authorization"] = test.headers
			a, err := f.do(r)
			must(t, err)
			if a.code != test.want {
				t.Errorf("answered %d %q, expected %d", a.code, a.body, test.want)
			}
			if challenge := a.header.Get("WWW-Authenticate"); (challenge == `Basic realm="restricted", charset="UTF-8"`) != (a.code == http.StatusUnauthorized) {
				t.Errorf("challenged with %q", challenge)
			}
		})
	}
}

func TestWithoutCredentialsEveryRequestIsRefusedUntilTheyCome(t *testing.T) {
	secret := newSecret(t, "# none yet\nada:plain\n")
	f := start(t, echo(), func(o *Options) { o.Credentials = []string{secret.dir, t.TempDir() + "/missing"} })
	a := f.get("ada", "plain")
	f.expectCode(a, http.StatusServiceUnavailable)
	if !strings.Contains(a.body, "the proxy has no credentials") || a.header.Get("Retry-After") == "" {
		t.Errorf("the answer does not say why: %q", a.body)
	}
	f.expectCode(f.probe("/readyz"), http.StatusServiceUnavailable)
	f.expectCode(f.probe("/healthz"), http.StatusOK)

	secret.put(t, "htpasswd", "ada:"+shaOfOne)
	f.reload("the proxy is ready", func() error {
		if a := f.probe("/readyz"); a.code != http.StatusOK {
			return fmt.Errorf("the answer is %q", a.body)
		}
		return nil
	})
	f.expectCode(f.get("ada", "1"), http.StatusOK)
	f.expectCode(f.get("ada", "plain"), http.StatusUnauthorized)
}

func TestAnExemptPathNeedsNoCredentialsAndHasNoUser(t *testing.T) {
	f := start(t, echo(), func(o *Options) { o.Exempt = []string{"/live"} })
	for path, want := range map[string]int{
		"/live":        http.StatusOK,
		"/live?full=1": http.StatusOK,
		"/live/":       http.StatusUnauthorized,
		"/live/../":    http.StatusUnauthorized,
		"//live":       http.StatusUnauthorized,
		"/Live":        http.StatusUnauthorized,
		"/live%2F":     http.StatusUnauthorized,
		"/":            http.StatusUnauthorized,
	} {
		t.Run(path, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url()+path, http.NoBody)
			must(t, err)
			r.Header.Set("X-Forwarded-User", "root")
			a, err := f.do(r)
			must(t, err)
			if a.code != want || strings.Contains(a.body, "root") {
				t.Errorf("answered %d %q, expected %d without a user", a.code, a.body, want)
			}
		})
	}
}

func TestAnAddressAtItsLimitGetsARetryTime(t *testing.T) {
	f := start(t, echo())
	f.expectCode(f.get("ada", "1"), http.StatusOK)
	for i := range limiter.FailuresAtOnce {
		f.expectCode(f.get("ada", fmt.Sprint("wrong", i)), http.StatusUnauthorized)
	}
	a := f.get("ada", "wrong")
	f.expectCode(a, http.StatusTooManyRequests)
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q, expected 1", a.header.Get("Retry-After"))
	}
	f.expectCode(f.get("ada", "1"), http.StatusOK)
}

func TestATunnelIsRefused(t *testing.T) {
	f := start(t, echo(), func(o *Options) { o.Exempt = []string{""} })
	a := f.raw("CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\nAuthorization: Basic YWRhOjE=\r\n\r\n")
	f.expectCode(a, http.StatusMethodNotAllowed)
}
