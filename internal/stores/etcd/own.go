// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Foreign is a client URL that a member publishes but that leads to none of the cluster's pods. opcrew does not connect
// to it: see docs/design/etcd.md.
type Foreign struct {
	Member uint64
	URL    string
}

func (f Foreign) String() string {
	return fmt.Sprintf("member %016x publishes the client URL %s, which is not the address of a pod of this cluster, so opcrew does not use it", f.Member, f.URL)
}

// Own returns the endpoint of the target to which a published URL leads; false if there is none. It ignores the DNS
// domain, because members may still publish the previous domain after a change of the spec. A URL with a user, a path
// or another port leads to no endpoint.
func (t Target) Own(published string) (endpoint string, ok bool) {
	is, ok := placeOf(published)
	if !ok {
		return "", false
	}
	i := slices.IndexFunc(t.Endpoints, func(endpoint string) bool {
		own, ok := placeOf(endpoint)
		return ok && own == is
	})
	if i < 0 {
		return "", false
	}
	return t.Endpoints[i], true
}

// place holds the parts of a URL that determine where it leads.
type place struct{ scheme, host, port string }

// placeOf splits a URL into scheme, host and port; false if the URL has other parts, such as a user or a path.
func placeOf(text string) (place, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Host == "" {
		return place{}, false
	}
	return place{u.Scheme, withoutZone(u.Hostname()), u.Port()}, true
}

// withoutZone removes the DNS domain of the cluster, that is, everything after <pod>.<service>.<namespace>.svc.
func withoutZone(host string) string {
	name, _, _ := strings.Cut(host+".", ".svc.")
	if len(name) >= len(host) {
		return host
	}
	return name + ".svc"
}

// divide splits the URLs that members publish: endpoints of the target go to ClientURLs, and all other URLs to Foreign.
func (t Target) divide(members []Member) []Member {
	out := slices.Clone(members)
	for i, m := range out {
		out[i].ClientURLs, out[i].Foreign = nil, nil
		for _, published := range slices.Concat(m.ClientURLs, m.Foreign) {
			if endpoint, own := t.Own(published); own {
				out[i].ClientURLs = append(out[i].ClientURLs, endpoint)
			} else {
				out[i].Foreign = append(out[i].Foreign, published)
			}
		}
	}
	return out
}

// own returns an error if an endpoint is not one of the target's.
func (t Target) own(endpoint string) error {
	if slices.Contains(t.Endpoints, endpoint) {
		return nil
	}
	return fmt.Errorf("%.300q is not the address of a pod of this cluster, so opcrew does not use it", endpoint)
}

// dialer returns a dialer that connects to the IP address that the controller has observed on the pod. It does not use
// DNS, whose domain a user can choose. If through is given, this dialer gets the host name instead.
func (t Target) dialer(through ContextDialer) ContextDialer {
	if through == nil {
		through = (&net.Dialer{Timeout: connectTimeout}).DialContext
		return func(ctx context.Context, network, address string) (net.Conn, error) {
			seen, err := t.address(address)
			if err != nil {
				return nil, err
			}
			return through(ctx, network, seen)
		}
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if _, err := t.address(address); err != nil {
			return nil, err
		}
		return through(ctx, network, address)
	}
}

// address replaces the host in host:port with the IP address of the pod that has this host name.
func (t Target) address(hostport string) (string, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return "", err
	}
	if net.ParseIP(host) != nil { // allowed, because only the controller sets endpoints with IP addresses
		return hostport, nil
	}
	ip := t.Addresses[host]
	if ip == "" {
		return "", fmt.Errorf("the pod of %s has no address yet", host)
	}
	return net.JoinHostPort(ip, port), nil
}

// foreign collects the client URLs of members that lead to none of the cluster's pods.
func foreign(members []Member) []Foreign {
	var out []Foreign
	for _, m := range members {
		for _, url := range m.Foreign {
			out = append(out, Foreign{m.ID, url})
		}
	}
	return out
}
