// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package service

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/machine/apply"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/probe"
	"github.com/opcrew/opcrew/internal/agents/machine/drift"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/selinux"
	"github.com/opcrew/opcrew/internal/agents/machine/sysctl"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/agents/machine/users"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Run runs the agent until the context ends.
func Run(ctx context.Context, log *slog.Logger) error {
	host, err := open(ctx)
	if err != nil {
		return err
	}
	defer host.close()
	files := drift.NewWatcher("/")
	defer files.Close() //nolint:errcheck // the process ends
	agent := &daemon.Agent{
		Host: host.Host, Trial: trial.NewStore(host.FS, hostconfig.StateDirectory), Journal: journal.NewStore(host.FS, hostconfig.StateDirectory),
		System: kernel{}, Files: files, Log: log,
	}
	client, err := cluster.New(path.Join(hostconfig.StateDirectory, cluster.Directory), clock.RealClock{}, log)
	if err != nil {
		return runAlone(ctx, agent, files.C, err)
	}
	agent.Cluster, agent.Contacts = client, probe.New(client.Reaches).Contacts
	go client.Watch(ctx)
	go client.KeepToken(ctx)
	agent.Run(ctx, client.Changed, files.C)
	return nil
}

// aloneTime is how long the agent works without usable credentials, so that a trial can end. Then the process ends, and
// systemd starts another one, which reads them again.
const aloneTime = 15 * time.Minute

func runAlone(ctx context.Context, agent *daemon.Agent, files <-chan struct{}, reason error) error {
	agent.Log.Error("The agent works without the API server, because its credentials cannot be used", "error", reason.Error())
	ctx, cancel := context.WithTimeout(ctx, aloneTime)
	defer cancel()
	none := func(context.Context) bool { return false }
	agent.Cluster, agent.Contacts = alone{}, probe.New(none).Contacts
	agent.Run(ctx, nil, files)
	return reason
}

// alone is the daemon.Cluster of an agent without credentials. The agent has no order, so it never calls the rest.
type alone struct{ daemon.Cluster }

func (alone) Annotations() map[string]string { return nil }

// Restore restores the host to what it was before opcrew changed it.
func Restore(ctx context.Context, log *slog.Logger) error {
	host, err := open(ctx)
	if err != nil {
		return err
	}
	defer host.close()
	out, err := host.Apply(ctx, hostconfig.Config{Name: machineorder.None})
	if err != nil {
		return fmt.Errorf("restore the host: %w", err)
	}
	for _, c := range out.Conflicts {
		log.Warn("A change of another program or user stays", "change", c.String())
	}
	for _, p := range out.Kept {
		log.Warn("A directory stays, because others use it", "directory", p)
	}
	for _, text := range out.Labels {
		log.Warn("A label of SELinux was not set", "reason", text)
	}
	log.Info("The host is restored", "steps", len(out.Steps))
	return nil
}

// host is this machine.
type host struct {
	*apply.Host
	root   *hostfs.Root
	unlock func()
}

// open waits until no other process of the agent works on the host.
func open(ctx context.Context) (*host, error) {
	root, err := hostfs.OpenRoot("/")
	if err != nil {
		return nil, err
	}
	fs := hostfs.New(root)
	if err := fs.MakeAll(hostconfig.StateDirectory); err != nil {
		return nil, err
	}
	unlock, err := users.Lock(ctx, path.Join(hostconfig.StateDirectory, "lock"))
	if err != nil {
		return nil, err
	}
	return &host{root: root, unlock: unlock, Host: &apply.Host{
		FS: fs, Store: ledger.NewStore(fs, hostconfig.StateDirectory), Units: units.Systemctl{}, Kernel: sysctl.Proc{}, UpdateBoot: updateBoot,
		SetLabels: selinux.Restore,
		LockUsers: func(ctx context.Context) (func(), error) { return users.Lock(ctx, users.LockFile) },
	}}, nil
}

func (h *host) close() {
	h.unlock()
	_ = h.root.Close()
}
