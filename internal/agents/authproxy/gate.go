// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// gate passes a request to the next handler if its password is correct, or if its path needs none.
type gate struct {
	realm   string
	exempt  []string
	store   *store
	checker *checker
	metrics *metrics
	next    http.Handler
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, err := g.admit(r)
	if err == nil {
		g.next.ServeHTTP(w, withUser(r, user))
		return
	}
	refused := errBusy
	errors.As(err, &refused)
	g.metrics.refused(refused)
	refused.write(w, r, g.realm)
}

// admit returns the verified user; "" for a path that needs no credentials.
func (g *gate) admit(r *http.Request) (string, error) {
	if r.Method == http.MethodConnect {
		return "", errConnect // a CONNECT tunnel would bypass the checks of the proxy
	}
	if g.isExempt(r) {
		return "", nil
	}
	set := g.store.current.Load()
	if set == nil {
		return "", errNone
	}
	user, password, err := basic(r.Header["Authorization"])
	if err != nil {
		return "", err
	}
	from, _ := netip.ParseAddrPort(r.RemoteAddr) // requests without a client address share one limit
	return user, g.checker.check(r.Context(), set, from.Addr().Unmap(), user, password)
}

// isExempt reports whether a path needs no credentials. It compares the path exactly as it was sent, because the
// application may interpret another spelling of the path differently.
func (g *gate) isExempt(r *http.Request) bool {
	return len(g.exempt) > 0 && r.URL.RawPath == "" && slices.Contains(g.exempt, r.URL.Path)
}

// basic returns the user and the password of a request. It refuses a request with several Authorization headers,
// because the application might use a different one than the proxy.
func basic(headers []string) (user, password string, err error) {
	if len(headers) == 0 {
		return "", "", errMissing
	}
	if len(headers) > 1 {
		return "", "", errMalformed
	}
	r := http.Request{Header: http.Header{"Authorization": headers}}
	user, password, ok := r.BasicAuth()
	// RFC 7617 forbids control characters. bcrypt stops at a NUL, so passwords that differ after it would be equal.
	if !ok || user == "" || strings.ContainsFunc(user+password, unicode.IsControl) {
		return "", "", errMalformed
	}
	return user, password, nil
}

type userKey struct{}

func withUser(r *http.Request, user string) *http.Request {
	if user == "" {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), userKey{}, user))
}

func userOf(r *http.Request) string {
	user, _ := r.Context().Value(userKey{}).(string)
	return user
}
