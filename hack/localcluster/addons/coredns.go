// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// clusterDomain is the DNS suffix of the names of Services.
const clusterDomain = "cluster.local"

// coreDNS resolves the cluster's own names. The cluster has no external network, so all other names get a negative
// response at once, which is better than a timeout.
func coreDNS(st *state.State) addon {
	const name = "coredns"
	address := st.ControlPlane.Address
	return addon{
		name: name,
		prepare: func() (map[string]string, error) {
			values := map[string]string{"DNS": st.Network.DNS.String(), "Server": address.String()}
			return values, state.WriteFile(file(st, name, "Corefile"), []byte(corefile(address, kubeconfig(st, name))), 0o644)
		},
		args:  []string{st.Binary(Program), "coredns", "-conf", file(st, name, "Corefile")},
		ready: func(ctx context.Context) error { return lookup(ctx, address) },
	}
}

// corefile returns the configuration of CoreDNS. It enables no cache, because CoreDNS responds from memory anyway, and
// clients must be able to look up a pod as soon as it is ready.
func corefile(address netip.Addr, kubeconfig string) string {
	return fmt.Sprintf(`%[3]s in-addr.arpa ip6.arpa {
	bind %[1]s
	errors
	kubernetes %[3]s in-addr.arpa ip6.arpa {
		kubeconfig %[2]s
		pods insecure
		ttl 5
	}
}
. {
	bind %[1]s
	errors
	template ANY ANY {
		rcode NXDOMAIN
	}
}
`, address, kubeconfig, clusterDomain)
}

// lookup returns an error unless the DNS server resolves the name of the API server's Service.
func lookup(ctx context.Context, server netip.Addr) error {
	resolver := &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, netip.AddrPortFrom(server, 53).String())
		},
	}
	_, err := resolver.LookupHost(ctx, "kubernetes.default.svc."+clusterDomain+".")
	return err
}
