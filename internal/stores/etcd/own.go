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

// Foreign is a URL that a member publishes and that is none of the cluster's own. It is not asked: see docs/design/etcd.md.
type Foreign struct {
	Member uint64
	URL    string
}

func (f Foreign) String() string {
	return fmt.Sprintf("member %016x publishes the client URL %s, which is not the address of a pod of this cluster, so opcrew does not use it", f.Member, f.URL)
}

// Own is the endpoint of the target that a published URL stands for. The zone of the cluster is left out of account, as it can be
// changed in the spec before members publish it; a user, a path or another port is not.
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

// place is what a URL leads to.
type place struct{ scheme, host, port string }

// placeOf reads a URL that has nothing else.
func placeOf(text string) (place, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Host == "" {
		return place{}, false
	}
	return place{u.Scheme, withoutZone(u.Hostname()), u.Port()}, true
}

// withoutZone leaves out what follows <pod>.<service>.<namespace>.svc.
func withoutZone(host string) string {
	name, _, _ := strings.Cut(host+".", ".svc.")
	if len(name) >= len(host) {
		return host
	}
	return name + ".svc"
}

// divide keeps the endpoints of the target among the client URLs of members, and puts the others aside.
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

// own fails for an endpoint that is none of the target's.
func (t Target) own(endpoint string) error {
	if slices.Contains(t.Endpoints, endpoint) {
		return nil
	}
	return fmt.Errorf("%.300q is not the address of a pod of this cluster, so opcrew does not use it", endpoint)
}

// dialer connects to the address at which the controller has seen the pod of a host: DNS, whose zone a user can choose, is not
// asked. A dialer that is given gets the name.
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

// address is host:port with the address of the host.
func (t Target) address(hostport string) (string, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return "", err
	}
	if net.ParseIP(host) != nil { // the controller itself names endpoints, and no member does
		return hostport, nil
	}
	ip := t.Addresses[host]
	if ip == "" {
		return "", fmt.Errorf("the pod of %s has no address yet", host)
	}
	return net.JoinHostPort(ip, port), nil
}

// foreign are the URLs that are put aside.
func foreign(members []Member) []Foreign {
	var out []Foreign
	for _, m := range members {
		for _, url := range m.Foreign {
			out = append(out, Foreign{m.ID, url})
		}
	}
	return out
}
