// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/controlplane"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/netpolicy"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/pki"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Prepare writes all files that a node needs before its first start. A node with systemd must have its operating system
// already. The node boots with only containerd, which does
// not need the API server. Join later adds the other services.
func Prepare(st *state.State, n state.Node) error {
	dir := st.MachineDir(n.Name)
	if err := writeIdentity(st, n, dir); err != nil {
		return fmt.Errorf("identity of %s: %w", n.Name, err)
	}
	pods, err := podNetwork(n)
	if err != nil {
		return err
	}
	etc := etc(st, n)
	for path, content := range map[string]string{
		containerdFile(st, n):                                containerdConfig(n, filepath.Join(dir, "registries")),
		filepath.Join(dir, "registries/_default/hosts.toml"): registryHosts(st),
		filepath.Join(dir, "kubelet.yaml"):                   kubeletConfig(st, n, dir),
		filepath.Join(dir, "kube-proxy.yaml"):                controlplane.ProxyConfig(n.Name, st.Network.Pods, filepath.Join(dir, "kube-proxy.kubeconfig")),
		filepath.Join(etc, "cni/net.d/10-pods.conflist"):     pods,
		filepath.Join(etc, "hostname"):                       n.Name + "\n",
		filepath.Join(etc, "hosts"):                          hosts(st),
		filepath.Join(etc, "machine-id"):                     machineID(n) + "\n",
		filepath.Join(etc, "resolv.conf"):                    fmt.Sprintf("nameserver %v\n", st.Network.DNS),
	} {
		if err := state.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	if n.Systemd {
		return nil // Debian's package has enabled containerd
	}
	return machine.Run(st, n.Name, machine.Service{
		Name: "containerd",
		Args: []string{"/usr/bin/containerd", "--config", containerdFile(st, n)},
	})
}

// writeIdentity creates the node's credentials for the API server, and the certificate with which the kubelet serves
// its own API. kubectl logs and exec, for example, use this API.
func writeIdentity(st *state.State, n state.Node, dir string) error {
	user := "system:node:" + n.Name
	if err := pki.ClientKubeconfig(st, filepath.Join(dir, "kubelet.kubeconfig"), user, "system:nodes"); err != nil {
		return err
	}
	if err := pki.ClientKubeconfig(st, filepath.Join(dir, "kube-proxy.kubeconfig"), "system:kube-proxy"); err != nil {
		return err
	}
	if err := pki.ClientKubeconfig(st, filepath.Join(dir, "netpolicy.kubeconfig"), "netpolicy", "system:masters"); err != nil {
		return err
	}
	ca, err := pki.LoadAuthority(st.PKIDir(), pki.ClusterAuthority)
	if err != nil {
		return err
	}
	pair, err := ca.Issue(pki.Subject{Name: user, Names: []string{n.Name}, Addresses: []netip.Addr{n.Address}})
	if err != nil {
		return err
	}
	return pair.Write(dir, "kubelet")
}

// Join starts the kubelet, kube-proxy and the network policy agent of a node. The kubelet registers the node with the
// API server. Call Join after every start of the node, but only once the API server is ready, because a kubelet that
// gets errors waits longer before each new attempt.
func Join(ctx context.Context, st *state.State, n state.Node) error {
	kube, dir := st.Binary("kube"), st.MachineDir(n.Name)
	kubelet := machine.Service{Name: "kubelet", WaitFor: n.ContainerdSocket, Args: []string{
		kube, "kubelet",
		"--config=" + filepath.Join(dir, "kubelet.yaml"),
		"--kubeconfig=" + filepath.Join(dir, "kubelet.kubeconfig"),
		"--hostname-override=" + n.Name,
		"--node-ip=" + n.Address.String() + "," + network.Address6(n.Address).String(),
	}}
	proxy := machine.Service{Name: "kube-proxy", Args: []string{
		kube, "kube-proxy", "--config=" + filepath.Join(dir, "kube-proxy.yaml"),
	}}
	policies := machine.Service{Name: "netpolicy", Args: []string{
		st.Binary(machine.Program), netpolicy.CommandName, "--node", n.Name, "--kubeconfig", filepath.Join(dir, "netpolicy.kubeconfig"),
	}}
	services := []machine.Service{kubelet, proxy, policies}
	if n.Systemd {
		return runUnits(ctx, st, n, services)
	}
	for _, service := range services {
		if err := machine.Run(st, n.Name, service); err != nil {
			return err
		}
	}
	return nil
}

// machineID returns an ID that is different for each node, and that is the same at every start of a node.
func machineID(n state.Node) string {
	return strings.Repeat("0", 32-2*len(n.Address.AsSlice())) + fmt.Sprintf("%x", n.Address.AsSlice())
}
