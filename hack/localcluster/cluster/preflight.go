// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

const neededDisk = 20 << 30

// programs returns the programs that the cluster needs, with their Debian packages.
func programs() []program {
	return []program{
		{"containerd", "containerd"},
		{"ctr", "containerd"},
		{"runc", "runc"},
		{"/usr/lib/cni/ptp", "containernetworking-plugins"},
		{"iptables", "iptables"},
		{"nft", "nftables"},
		{"conntrack", "conntrack"},
		{"ip", "iproute2"},
		{"nsenter", "util-linux"},
	}
}

type program struct{ path, debian string }

// privileged returns an error if this machine or this user cannot run a cluster. Every command that changes a cluster
// calls privileged.
func privileged() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("the local cluster needs Linux, because its nodes are made of Linux namespaces; this machine runs %s", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return errors.New("the local cluster needs root; run this command as root")
	}
	return nil
}

// preflight returns a one-line error that says what prevents a new cluster from starting, or nil.
func preflight(ctx context.Context, st *state.State, binaries string) error {
	if err := packagesInstalled(); err != nil {
		return err
	}
	if err := binariesBuilt(binaries); err != nil {
		return err
	}
	if err := diskFree(filepath.Dir(st.Dir)); err != nil {
		return err
	}
	return network.CheckFree(ctx, st.Network)
}

func packagesInstalled() error {
	var missing []string
	for _, p := range programs() {
		if _, err := exec.LookPath(p.path); err != nil && !slices.Contains(missing, p.debian) {
			missing = append(missing, p.debian)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("packages are missing; install them with: apt-get install %s", strings.Join(missing, " "))
	}
	return nil
}

func binariesBuilt(dir string) error {
	var missing []string
	for _, name := range binaryNames() {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("folder %s lacks the binaries %s; build them first, for example with make up", dir, strings.Join(missing, ", "))
	}
	return nil
}

func diskFree(dir string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("determine the free disk space of %s: %w", dir, err)
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < neededDisk {
		return fmt.Errorf("%s has %d GB of free disk space, but the cluster needs %d GB", dir, free>>30, neededDisk>>30)
	}
	return nil
}
