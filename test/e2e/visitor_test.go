// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// answer is the response of the web application in package webapp.
type answer struct {
	Version, Greeting, Config, User, Pod string
	Password                             bool
}

// visitor is an HTTP client. It may send a user name and a password.
type visitor struct {
	client         *http.Client
	url            string
	user, password string
	host           string // Host header, if it differs from the host in the URL
}

func newVisitor(url, user, password string) *visitor {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	return &visitor{client: &http.Client{Timeout: 10 * time.Second, Transport: transport}, url: url, user: user, password: password}
}

// visit sends one request, and returns the status code and the response.
func (v *visitor) visit(ctx context.Context) (int, answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url, nil)
	if err != nil {
		return 0, answer{}, err
	}
	if v.host != "" {
		request.Host = v.host
	}
	if v.user != "" {
		request.SetBasicAuth(v.user, v.password)
	}
	response, err := v.client.Do(request)
	if err != nil {
		return 0, answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	a := answer{}
	if err == nil && response.StatusCode == http.StatusOK && strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		err = json.Unmarshal(body, &a)
	}
	return response.StatusCode, a, err
}

// regulars returns several functions that all repeat the request of a visitor.
func regulars(v *visitor) []func(context.Context) error {
	ask := func(ctx context.Context) error {
		code, _, err := v.visit(ctx)
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("the response has status code %d", code)
		}
		return err
	}
	return []func(context.Context) error{ask, ask, ask, ask}
}
