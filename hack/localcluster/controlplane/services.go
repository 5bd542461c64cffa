// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"net/netip"
	"path/filepath"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/pki"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

const (
	etcdName              = "etcd"
	apiServerName         = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
	schedulerName         = "kube-scheduler"
	proxyName             = "kube-proxy"
)

const etcdClients, etcdPeers = "http://127.0.0.1:2379", "http://127.0.0.1:2380"

// etcd runs without syncing to disk. Its data need not survive a crash of this machine, because after a crash
// `localcluster up` creates the cluster again.
func etcd(st *state.State) machine.Service {
	return service(st, etcdName,
		"--name=local",
		"--data-dir="+filepath.Join(st.MachineDir(state.ControlPlaneName), "etcd-data"),
		"--unsafe-no-fsync",
		"--listen-client-urls="+etcdClients,
		"--advertise-client-urls="+etcdClients,
		"--listen-peer-urls="+etcdPeers,
		"--initial-advertise-peer-urls="+etcdPeers,
		"--initial-cluster=local="+etcdPeers,
		"--quota-backend-bytes=8589934592",
		"--auto-compaction-retention=1h",
		"--log-level=warn",
	)
}

func apiServer(st *state.State) machine.Service {
	file := func(name, suffix string) string { return pki.File(st, name, suffix) }
	return service(st, apiServerName,
		"--etcd-servers="+etcdClients,
		"--advertise-address="+st.ControlPlane.Address.String(),
		"--secure-port=6443",
		"--service-cluster-ip-range="+st.Network.Services.String(),
		"--tls-cert-file="+file(pki.APIServer, ".crt"),
		"--tls-private-key-file="+file(pki.APIServer, ".key"),
		"--client-ca-file="+file(pki.ClusterAuthority, ".crt"),
		"--kubelet-certificate-authority="+file(pki.ClusterAuthority, ".crt"),
		"--kubelet-client-certificate="+file(pki.KubeletClient, ".crt"),
		"--kubelet-client-key="+file(pki.KubeletClient, ".key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file="+file(pki.ServiceAccounts, ".pub"),
		"--service-account-signing-key-file="+file(pki.ServiceAccounts, ".key"),
		"--requestheader-client-ca-file="+file(pki.FrontProxyAuthority, ".crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+file(pki.FrontProxyClient, ".crt"),
		"--proxy-client-key-file="+file(pki.FrontProxyClient, ".key"),
		"--enable-aggregator-routing=true",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--max-requests-inflight=2000",
		"--max-mutating-requests-inflight=1000",
		"--audit-policy-file="+auditPolicyFile(st),
		"--audit-log-path="+st.AuditLog(),
		"--audit-log-maxsize=200",
		"--audit-log-maxbackup=3",
	)
}

// controllerManager runs the controller manager with short intervals. It notices a lost node within ten seconds instead
// of a minute, and evaluates autoscalers every five seconds instead of fifteen.
func controllerManager(st *state.State) machine.Service {
	ca := pki.File(st, pki.ClusterAuthority, ".crt")
	return service(st, controllerManagerName,
		"--kubeconfig="+kubeconfig(st, controllerManagerName),
		"--authentication-kubeconfig="+kubeconfig(st, controllerManagerName),
		"--authorization-kubeconfig="+kubeconfig(st, controllerManagerName),
		"--client-ca-file="+ca,
		"--root-ca-file="+ca,
		"--cluster-signing-cert-file="+ca,
		"--cluster-signing-key-file="+pki.File(st, pki.ClusterAuthority, ".key"),
		"--service-account-private-key-file="+pki.File(st, pki.ServiceAccounts, ".key"),
		"--use-service-account-credentials=true",
		"--service-cluster-ip-range="+st.Network.Services.String(),
		"--allocate-node-cidrs=false",
		"--leader-elect=false",
		"--node-monitor-period=1s",
		"--node-monitor-grace-period=8s",
		"--horizontal-pod-autoscaler-sync-period=5s",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	)
}

func scheduler(st *state.State) machine.Service {
	return service(st, schedulerName,
		"--config="+config(st, schedulerName),
		"--authentication-kubeconfig="+kubeconfig(st, schedulerName),
		"--authorization-kubeconfig="+kubeconfig(st, schedulerName),
	)
}

func proxy(st *state.State) machine.Service {
	return service(st, proxyName, "--config="+config(st, proxyName))
}

func service(st *state.State, name string, args ...string) machine.Service {
	return machine.Service{Name: name, Args: append([]string{st.Binary("kube"), name}, args...)}
}

// auditPolicy logs every request once, when the API server responds. An entry has the user, the user agent, the request
// and the result, but not the content.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

func writeConfigs(st *state.State) error {
	schedulerConfig := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: %s
  qps: 1000
  burst: 2000
`, kubeconfig(st, schedulerName))
	if err := state.WriteFile(config(st, schedulerName), []byte(schedulerConfig), 0o644); err != nil {
		return err
	}
	// kube-proxy waits half a minute for a node that does not exist, so name an existing one. As with a real load
	// balancer, traffic from this host counts as traffic of the cluster. So it keeps its source address, and reaches
	// the pods of all nodes even if externalTrafficPolicy is Local.
	proxyConfig := ProxyConfig(st.Nodes[0].Name, st.Network.HostLink, kubeconfig(st, proxyName))
	return state.WriteFile(config(st, proxyName), []byte(proxyConfig), 0o644)
}

// ProxyConfig returns the configuration of kube-proxy for a node or the control plane. own is the address range whose
// connections kube-proxy does not masquerade. kube-proxy does not change this host's connection tracking limits.
//
// The mode is iptables and not nftables. With nftables in Linux 6.18, some packets are lost while the endpoints of a
// Service change: the old rules find an empty endpoint map, and send the packet to the Service's own address. About one
// in 50,000 requests failed for this reason. In tests, this would have looked like a fault of the operator.
//
// tcpBeLiberal is set because iptables otherwise drops a server's responses to a reused port.
func ProxyConfig(node string, own netip.Prefix, kubeconfig string) string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: %s
clusterCIDR: %s
clientConnection:
  kubeconfig: %s
  qps: 200
  burst: 400
conntrack:
  maxPerCore: 0
  tcpBeLiberal: true
iptables:
  minSyncPeriod: 200ms
`, node, own, kubeconfig)
}
