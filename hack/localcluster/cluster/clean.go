// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// clean removes everything that belongs to a cluster. It only keeps the state directory itself, which carries the lock.
// It finds out from the kernel what exists, because the record in state.json may be wrong after a killed `localcluster
// up` or a reboot.
func clean(ctx context.Context, dir string) error {
	st, err := state.Load(dir)
	if err != nil {
		st = &state.State{} // state.json does not exist or cannot be read
	}
	if err := endRecorded(st); err != nil {
		return err
	}
	if err := cgroup.Remove(ctx); err != nil {
		return err
	}
	if st.StartedFrom != "" {
		if err := cgroup.RestoreControllers(st.Controllers); err != nil {
			return err
		}
	}
	if err := unmountBelow(ctx, dir); err != nil {
		return err
	}
	if err := network.RemoveHostLink(ctx); err != nil {
		return err
	}
	return empty(dir)
}

// endRecorded kills the machines that state.json lists, which ends most processes of the cluster. Package cgroup then
// finds the remaining ones.
func endRecorded(st *state.State) error {
	for _, m := range st.Machines() {
		if err := machine.End(m); err != nil {
			return err
		}
	}
	for _, m := range st.Machines() {
		m.Init.AwaitReaped(3 * time.Second)
	}
	return nil
}

// unmountBelow unmounts everything below dir. Otherwise, removing dir would delete the files in the mounted file
// systems.
func unmountBelow(ctx context.Context, dir string) error {
	for {
		points, err := mountsBelow(dir)
		if err != nil || len(points) == 0 {
			return err
		}
		for _, point := range points {
			err := unix.Unmount(point, unix.MNT_DETACH)
			if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("unmount %s: %w", point, err)
			}
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("unmount the mounts below %s: %w", dir, err)
		}
	}
}

func mountsBelow(dir string) ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMounts(string(data), dir), nil
}

// parseMounts returns the mount points below dir, the latest mount first.
func parseMounts(mountinfo, dir string) []string {
	const mountPoint = 4
	var points []string
	for line := range strings.SplitSeq(mountinfo, "\n") {
		f := strings.Fields(line)
		if len(f) > mountPoint && strings.HasPrefix(f[mountPoint], dir+"/") {
			points = append(points, f[mountPoint])
		}
	}
	slices.Reverse(points)
	return points
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
