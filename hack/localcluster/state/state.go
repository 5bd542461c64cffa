// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package state stores the record of this machine's local cluster: one directory, with machines and addresses in
// state.json. A machine has at most one cluster, whichever user started it.
//
// Package state only stores data. Package machine starts and stops processes, package network creates links, and
// package cluster starts and stops the whole cluster.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/proc"
)

// DefaultDir is the state directory of this machine's cluster.
const DefaultDir = "/var/lib/opcrew-localcluster"

// ControlPlaneName is the name of the machine that runs etcd, the API server and all other processes that belong to no
// node. It is a separate machine, so it does not crash with a node.
const ControlPlaneName = "control-plane"

// State is the record of the local cluster, which state.json stores.
type State struct {
	Dir          string    `json:"dir"`
	StartedFrom  string    `json:"startedFrom"` // working directory of the `localcluster up` that created the cluster
	StartedAt    time.Time `json:"startedAt"`
	Complete     bool      `json:"complete"`    // whether `localcluster up` has completed
	Kubeconfigs  []string  `json:"kubeconfigs"` // files outside Dir that `localcluster down` must remove
	Controllers  []string  `json:"controllers"` // controllers that this machine's root cgroup enabled before `localcluster up`
	Network      Network   `json:"network"`
	ControlPlane Machine   `json:"controlPlane"`
	Nodes        []Node    `json:"nodes"`
}

// Network is the address plan of the cluster.
type Network struct {
	Machines      netip.Prefix `json:"machines"`      // addresses of nodes and the control plane
	HostLink      netip.Prefix `json:"hostLink"`      // addresses of the link between this host and the control plane
	HostAddress   netip.Addr   `json:"hostAddress"`   // address of this host for pods
	Pods          netip.Prefix `json:"pods"`          // addresses of pods; each node has a part of the range
	Services      netip.Prefix `json:"services"`      // ClusterIPs
	LoadBalancers netip.Prefix `json:"loadBalancers"` // addresses for Services of type LoadBalancer
	DNS           netip.Addr   `json:"dns"`           // the ClusterIP of kube-dns
}

// Machine is a simulated machine: a set of Linux namespaces with its own init.
type Machine struct {
	Name    string        `json:"name"`
	Address netip.Addr    `json:"address"`
	NetNS   string        `json:"netns"` // file that holds the network namespace, for nsenter --net=
	Init    proc.Identity `json:"init"`  // zero, or an ended process, if the machine is down
}

// Node is a machine that runs pods.
type Node struct {
	Machine
	PodCIDR          netip.Prefix `json:"podCIDR"`
	ContainerdSocket string       `json:"containerdSocket"` // path that is also valid outside the node
	Cut              bool         `json:"cut"`              // whether a user took the node's link down
	Systemd          bool         `json:"systemd"`          // whether the node has an operating system of its own, with systemd
}

// ErrAbsent reports that this machine has no cluster.
var ErrAbsent = errors.New("no local cluster on this machine; start one with `localcluster up`")

// Load reads the record of the cluster from dir/state.json. It returns ErrAbsent if the file does not exist.
func Load(dir string) (*State, error) {
	data, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, err
	}
	st := &State{}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, fmt.Errorf("read %s/state.json: %w; run `localcluster up` to create the cluster again", dir, err)
	}
	st.Dir = dir
	return st, nil
}

// Save replaces state.json atomically. If Save is interrupted, the file keeps its previous content.
func (s *State) Save() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(s.Dir, "state.json"), data, 0o600)
}

// AddKubeconfig adds the path of a copy of the kubeconfig to the state, and saves the state.
func (s *State) AddKubeconfig(path string) error {
	if !slices.Contains(s.Kubeconfigs, path) {
		s.Kubeconfigs = append(s.Kubeconfigs, path)
	}
	return s.Save()
}

// Machines returns all machines, the control plane first.
func (s *State) Machines() []Machine {
	all := []Machine{s.ControlPlane}
	for _, n := range s.Nodes {
		all = append(all, n.Machine)
	}
	return all
}

// Node returns the node with the given name. The caller may change the node and then call Save.
func (s *State) Node(name string) (*Node, error) {
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i], nil
		}
	}
	return nil, fmt.Errorf("there is no node %q; the nodes are %s", name, s.nodeNames())
}

// Systemd reports whether the named machine is a node with an operating system of its own.
func (s *State) Systemd(machine string) bool {
	n, err := s.Node(machine)
	return err == nil && n.Systemd
}

func (s *State) nodeNames() string {
	if len(s.Nodes) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s to %s", s.Nodes[0].Name, s.Nodes[len(s.Nodes)-1].Name)
}
