// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package state is what this machine stores about its local cluster: one directory,
// with a record of machines and addresses in state.json. There is one cluster per
// machine, whichever user started it.
//
// It has no behaviour: machine starts and stops processes, network creates
// links, cluster starts and stops the whole.
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

// DefaultDir is the cluster's one directory on this machine.
const DefaultDir = "/var/lib/opcrew-localcluster"

// ControlPlaneName is the machine that runs etcd, the API server and everything else
// that belongs to no node. It is not a node of the cluster and does not crash with one.
const ControlPlaneName = "control-plane"

// State is the record of the cluster.
type State struct {
	Dir          string    `json:"dir"`
	StartedFrom  string    `json:"startedFrom"` // the working directory of the `up` that made it
	StartedAt    time.Time `json:"startedAt"`
	Complete     bool      `json:"complete"`    // `up` ran to its end
	Kubeconfigs  []string  `json:"kubeconfigs"` // copies outside Dir, which `down` removes
	Controllers  []string  `json:"controllers"` // that were on in this machine's root control group before
	Network      Network   `json:"network"`
	ControlPlane Machine   `json:"controlPlane"`
	Nodes        []Node    `json:"nodes"`
}

// Network is the plan of addresses.
type Network struct {
	Machines      netip.Prefix `json:"machines"`      // nodes and control plane
	HostLink      netip.Prefix `json:"hostLink"`      // between this host and the control plane
	HostAddress   netip.Addr   `json:"hostAddress"`   // this host, as pods see it
	Pods          netip.Prefix `json:"pods"`          // all pods; each node has a part of it
	Services      netip.Prefix `json:"services"`      // ClusterIPs
	LoadBalancers netip.Prefix `json:"loadBalancers"` // addresses for Services of type LoadBalancer
	DNS           netip.Addr   `json:"dns"`           // the ClusterIP of kube-dns
}

// Machine is a set of namespaces with an init of its own.
type Machine struct {
	Name    string        `json:"name"`
	Address netip.Addr    `json:"address"`
	NetNS   string        `json:"netns"` // file that holds the network namespace, for nsenter --net=
	Init    proc.Identity `json:"init"`  // zero or dead: the machine is down
}

// Node is a machine that runs pods.
type Node struct {
	Machine
	PodCIDR          netip.Prefix `json:"podCIDR"`
	ContainerdSocket string       `json:"containerdSocket"` // reachable from outside the node too
	Cut              bool         `json:"cut"`              // its link was taken down on purpose
}

// ErrAbsent says that there is no cluster on this machine.
var ErrAbsent = errors.New("no local cluster on this machine; start one with `up`")

// Load reads the record.
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
		return nil, fmt.Errorf("read %s/state.json (`up` starts again): %w", dir, err)
	}
	st.Dir = dir
	return st, nil
}

// Save replaces the record in one step, so that a killed writer leaves the old one.
func (s *State) Save() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(s.Dir, "state.json"), data, 0o600)
}

// AddKubeconfig records a copy of the kubeconfig, and saves.
func (s *State) AddKubeconfig(path string) error {
	if !slices.Contains(s.Kubeconfigs, path) {
		s.Kubeconfigs = append(s.Kubeconfigs, path)
	}
	return s.Save()
}

// Machines are all machines, the control plane first.
func (s *State) Machines() []Machine {
	all := []Machine{s.ControlPlane}
	for _, n := range s.Nodes {
		all = append(all, n.Machine)
	}
	return all
}

// Node finds a node by name; changes to it are kept by Save.
func (s *State) Node(name string) (*Node, error) {
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i], nil
		}
	}
	return nil, fmt.Errorf("no node %q; there are %s", name, s.nodeNames())
}

func (s *State) nodeNames() string {
	if len(s.Nodes) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s to %s", s.Nodes[0].Name, s.Nodes[len(s.Nodes)-1].Name)
}
