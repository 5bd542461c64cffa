// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	proxyconfig "k8s.io/kube-proxy/config/v1alpha1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/hack/localcluster/controlplane"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

func example() (*state.State, state.Node) {
	n := state.Node{
		Machine:          state.Machine{Name: "node1", Address: netip.MustParseAddr("10.214.0.11")},
		PodCIDR:          netip.MustParsePrefix("10.215.1.0/24"),
		ContainerdSocket: "/state/machines/node1/containerd.sock",
	}
	cp := state.Machine{Name: state.ControlPlaneName, Address: netip.MustParseAddr("10.214.0.1")}
	return &state.State{Dir: "/state", Network: network.Plan(), ControlPlane: cp, Nodes: []state.Node{n}}, n
}

func TestTheKubeletKnowsEveryFieldOfItsConfiguration(t *testing.T) {
	st, n := example()
	var got kubeletconfig.KubeletConfiguration
	if err := yaml.UnmarshalStrict([]byte(kubeletConfig(st, n, "/state/machines/node1")), &got); err != nil {
		t.Fatal(err)
	}
	if got.CgroupRoot != "/opcrew-localcluster/node1" {
		t.Errorf("cgroupRoot %q is not the node's own", got.CgroupRoot)
	}
	if got.EvictionHard["nodefs.available"] != "1%" || len(got.ClusterDNS) != 1 || got.ClusterDNS[0] != "10.96.0.10" {
		t.Errorf("got %+v", got)
	}
	if got.ImagePullCredentialsVerificationPolicy != kubeletconfig.NeverVerify {
		t.Errorf("expected an image that was pulled under one name to be usable under another that it was loaded by, got %q", got.ImagePullCredentialsVerificationPolicy)
	}
}

func TestKubeProxyKnowsEveryFieldOfItsConfiguration(t *testing.T) {
	st, n := example()
	var got proxyconfig.KubeProxyConfiguration
	if err := yaml.UnmarshalStrict([]byte(controlplane.ProxyConfig(n.Name, st.Network.Pods, "/state/kubeconfig")), &got); err != nil {
		t.Fatal(err)
	}
	if got.HostnameOverride != "node1" || got.ClusterCIDR != "10.215.0.0/16" {
		t.Errorf("got %+v", got)
	}
	if got.Mode != "iptables" || !got.Conntrack.TCPBeLiberal {
		t.Errorf("expected the mode that loses no request when endpoints change, got %s and %+v", got.Mode, got.Conntrack)
	}
}

func TestImagesOfAllRegistriesArePulledFromTheClustersOwn(t *testing.T) {
	st, n := example()
	if got := containerdConfig(n, "/state/registries"); !strings.Contains(got, "\n    config_path = \"/state/registries\"\n") {
		t.Errorf("containerd does not read the hosts: %s", got)
	}
	want := `server = "http://10.214.0.1:5000"

[host."http://10.214.0.1:5000"]
  capabilities = ["pull", "resolve"]
`
	if got := registryHosts(st); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestPodsGetAddressesOfTheirNodesRange(t *testing.T) {
	_, n := example()
	data, err := podNetwork(n)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(data)) || !strings.Contains(data, `"subnet": "10.215.1.0/24"`) {
		t.Errorf("got %s", data)
	}
}

func TestNodesKnowEachOtherByName(t *testing.T) {
	st, _ := example()
	for _, line := range []string{"127.0.0.1 localhost\n", "10.214.0.1 control-plane\n", "10.214.0.11 node1\n"} {
		if got := hosts(st); !strings.Contains(got, line) {
			t.Errorf("no line %q in %q", line, got)
		}
	}
}

func TestMachineIDsAreWellFormedAndDiffer(t *testing.T) {
	_, a := example()
	b := a
	b.Address = b.Address.Next()
	if len(machineID(a)) != 32 || machineID(a) == machineID(b) {
		t.Errorf("got %q and %q", machineID(a), machineID(b))
	}
}

func TestANodeWithSystemdHasItsServicesAsUnits(t *testing.T) {
	got := unit(machine.Service{Name: "kube-proxy", Args: []string{"/state/bin/kube", "kube-proxy", "--config=/state/p.yaml"}})
	for _, line := range []string{
		"\nEnvironmentFile=-/etc/default/kube-proxy\n", "\nExecStart=/state/bin/kube kube-proxy --config=/state/p.yaml $KUBE_PROXY_EXTRA_ARGS\n",
		"\nWantedBy=multi-user.target\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}

func TestANodeWithSystemdHasItsFilesOnItsOwnDisk(t *testing.T) {
	st, n := example()
	if got := containerdFile(st, n); got != "/state/machines/node1/containerd.toml" {
		t.Errorf("node without systemd: %s", got)
	}
	n.Systemd = true
	if got := containerdFile(st, n); got != "/state/machines/node1/root/etc/containerd/config.toml" {
		t.Errorf("node with systemd: %s", got)
	}
	if got := cgroupRoot(n); got != "/" {
		t.Errorf("expected the root of the node's own cgroup namespace, got %s", got)
	}
}
