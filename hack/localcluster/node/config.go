// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node configures a node's containerd, kubelet, kube-proxy and pod network. It starts, crashes, cuts off and
// heals nodes. Package machine provides the machine on which a node runs, and package network its links.
package node

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// cniDir is a path inside the node. Each node has a separate copy of /etc.
const cniDir = "/etc/cni/net.d"

// containerdConfig sets restrict_oom_score_adj, because lower scores need CAP_SYS_RESOURCE, which root in a container
// or sandbox often lacks. It disables the opt plugin, which would write to /opt.
func containerdConfig(n state.Node, registries string) string {
	return fmt.Sprintf(`version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp"]

[grpc]
  address = %q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = %q
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %q
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`, n.ContainerdSocket, image.PauseTag, registries, cniDir)
}

// registryHosts makes containerd pull every image from the cluster's own registry, even if the image's name contains
// another registry, because nodes cannot reach other registries. A pull of an unknown image fails. containerd 1.6
// ignores a file without a host entry.
func registryHosts(st *state.State) string {
	return fmt.Sprintf(`server = "http://%[1]v"

[host."http://%[1]v"]
  capabilities = ["pull", "resolve"]
`, network.Registry(st.Network))
}

// kubeletConfig returns the configuration of a kubelet. It differs from the default, because nodes share this machine
// (cgroups, disk, swap), a lost node must be detected early, and tests must not be throttled. The kubelet must not
// verify pull credentials, because it would refuse an image that was loaded under one name and is pulled under another.
func kubeletConfig(st *state.State, n state.Node, dir string) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %[1]s}
authorization: {mode: Webhook}
tlsCertFile: %[2]s/kubelet.crt
tlsPrivateKeyFile: %[2]s/kubelet.key
clusterDomain: cluster.local
clusterDNS: [%[3]s]
resolvConf: /etc/resolv.conf
containerRuntimeEndpoint: unix://%[4]s
cgroupDriver: cgroupfs
cgroupRoot: %[5]s
failCgroupV1: false
enforceNodeAllocatable: []
failSwapOn: false
evictionHard: {memory.available: 100Mi, nodefs.available: 1%%, nodefs.inodesFree: 1%%, imagefs.available: 1%%}
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 2s
nodeStatusReportFrequency: 1m
nodeLeaseDurationSeconds: 8
serializeImagePulls: false
imagePullCredentialsVerificationPolicy: NeverVerify
kubeAPIQPS: 200
kubeAPIBurst: 400
eventRecordQPS: 200
eventBurst: 400
`, filepath.Join(st.PKIDir(), "ca.crt"), dir, st.Network.DNS, n.ContainerdSocket, cgroupRoot(n))
}

// cgroupRoot returns the parent of the cgroups of a node's pods, as the node sees it. A node with systemd has a cgroup
// namespace.
func cgroupRoot(n state.Node) string {
	if n.Systemd {
		return "/"
	}
	return cgroup.Group(n.Name)
}

// podNetwork gives each pod a point-to-point link to its node, which routes between pods. With a bridge instead, pods
// of one node could reach each other through a Service only with certain settings of this host
// (bridge-nf-call-iptables).
func podNetwork(n state.Node) (string, error) {
	type object = map[string]any
	list := object{
		"cniVersion": "0.4.0",
		"name":       "pods",
		"plugins": []object{
			{
				"type": "ptp",
				"ipam": object{
					"type":    "host-local",
					"dataDir": "/var/lib/cni/networks",
					"ranges":  [][]object{{{"subnet": n.PodCIDR.String()}}},
					"routes":  []object{{"dst": "0.0.0.0/0"}},
				},
			},
			{"type": "portmap", "capabilities": object{"portMappings": true}},
		},
	}
	data, err := json.MarshalIndent(list, "", "  ")
	return string(data) + "\n", err
}

// hosts returns the node's /etc/hosts, with the names of all machines.
func hosts(st *state.State) string {
	lines := []string{"127.0.0.1 localhost"}
	for _, m := range st.Machines() {
		lines = append(lines, fmt.Sprintf("%v %s", m.Address, m.Name))
	}
	return strings.Join(lines, "\n") + "\n"
}
