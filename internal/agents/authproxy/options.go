// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options holds the settings from the command line.
type Options struct {
	Address     string   // IP address to bind the ports to; empty binds to all addresses
	Routes      []Route  // the forwarded ports; at least one is required
	Credentials []string // directories of mounted Secrets; the proxy uses the first one with a valid line
	Health      int      // port for probes and metrics

	Realm      string
	UserHeader string
	Exempt     []string // paths that need no credentials

	Drain             time.Duration // how long new requests are still served after SIGTERM
	Shutdown          time.Duration // how long requests in flight may take after Drain
	ReadHeaderTimeout time.Duration
	IdleTimeout       time.Duration
	MaxHeaderBytes    int
}

// Route forwards requests from a port of the pod to a port of the application on 127.0.0.1.
type Route struct {
	Listen, Upstream int
	// H2C selects HTTP/2 without TLS, which gRPC needs. Otherwise the proxy sends requests to the application over
	// HTTP/1.
	H2C bool
}

// Defaults returns the options of an empty command line.
func Defaults() Options {
	return Options{
		Health:            8090,
		Realm:             "restricted",
		UserHeader:        "X-Forwarded-User",
		Drain:             5 * time.Second,
		Shutdown:          20 * time.Second,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

func (o *Options) validate() error {
	return errors.Join(
		o.validatePorts(),
		demand(len(o.Credentials) > 0, "--credentials must be set at least once"),
		demand(len(o.Exempt) == 0 || !slices.ContainsFunc(o.Exempt, relative), "--exempt-path must begin with /"),
		demand(quotable(o.Realm), "--realm must contain only printable ASCII characters, without quotes and backslashes"),
		demand(o.UserHeader != "" && !strings.ContainsFunc(o.UserHeader, notInHeader), "--user-header must contain only letters, digits and dashes"),
		demand(!slices.Contains(reserved, http.CanonicalHeaderKey(o.UserHeader)), "--user-header must not be a header that HTTP defines"),
		demand(o.Drain >= 0 && o.Shutdown > 0, "--drain must be zero or more, and --shutdown-timeout must be above zero"),
		demand(o.ReadHeaderTimeout > 0 && o.IdleTimeout > 0 && o.MaxHeaderBytes > 0, "--read-header-timeout, --idle-timeout and --max-header-bytes must be above zero"),
	)
}

// validatePorts refuses routes whose target is the proxy itself.
func (o *Options) validatePorts() error {
	if len(o.Routes) == 0 {
		return errors.New("--route must be set at least once")
	}
	own := []int{o.Health}
	for _, route := range o.Routes {
		if slices.Contains(own, route.Listen) && route.Listen != 0 {
			return fmt.Errorf("two listeners use port %d", route.Listen)
		}
		own = append(own, route.Listen)
	}
	for _, route := range o.Routes {
		if slices.Contains(own, route.Upstream) {
			return fmt.Errorf("port %d is a port of the proxy, so it cannot be a port of the application", route.Upstream)
		}
	}
	return nil
}

// reserved lists headers that would break a request if the proxy put a user name into them.
var reserved = []string{
	"Authorization", "Connection", "Content-Length", "Content-Type", "Cookie", "Host", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
}

func demand(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}

func relative(path string) bool { return !strings.HasPrefix(path, "/") }

func quotable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
}

func notInHeader(r rune) bool { return r != '-' && !alphanumeric(r) }

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func parseRoute(text string) (Route, error) {
	ports, h2c := strings.CutSuffix(text, "/h2c")
	listen, upstream, _ := strings.Cut(ports, "=")
	from, errFrom := parsePort(listen)
	to, errTo := parsePort(upstream)
	if errFrom != nil || errTo != nil {
		return Route{}, fmt.Errorf("%q is not LISTENPORT=UPSTREAMPORT or LISTENPORT=UPSTREAMPORT/h2c", text)
	}
	return Route{Listen: from, Upstream: to, H2C: h2c}, nil
}

func parsePort(text string) (int, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err == nil && port == 0 {
		err = strconv.ErrRange
	}
	return int(port), err
}
