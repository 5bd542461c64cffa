// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/addons"
	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/controlplane"
	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/node"
	"github.com/opcrew/opcrew/hack/localcluster/pki"
	"github.com/opcrew/opcrew/hack/localcluster/registry"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// createSteps returns the steps that create a new cluster. The API server takes longest to start, so the nodes boot and
// load their images in the meantime.
func createSteps(st *state.State, o Options, p *progress) []step {
	const short, long = 30 * time.Second, 2 * time.Minute
	steps := []step{
		{"check this machine", short, func(ctx context.Context) error { return preflight(ctx, st, o.Binaries) }},
		{"clean up leftovers", long, func(ctx context.Context) error { return clean(ctx, st.Dir) }},
		{"copy binaries", long, func(context.Context) error { return install(st, o.Binaries) }},
		{"make certificates", short, func(context.Context) error { return makeCertificates(st) }},
		{"start etcd and the API server", short, func(ctx context.Context) error { return startControlPlane(ctx, st) }},
		{"boot nodes", 5 * time.Minute, func(ctx context.Context) error { return bootNodes(ctx, st) }},
		{"load images", 5 * time.Minute, func(ctx context.Context) error { return loadImages(ctx, st) }},
		{"wait for the API server", long, func(ctx context.Context) error { return controlplane.AwaitReady(ctx, st) }},
		{"wait for the image registry", short, func(ctx context.Context) error { return registry.Await(ctx, st) }},
		{"start controllers, join nodes", short, func(ctx context.Context) error { return join(ctx, st) }},
		{"start add-ons", long, func(ctx context.Context) error { return addons.Install(ctx, st, p.detail) }},
		{"wait for nodes", long, func(ctx context.Context) error { return awaitNodes(ctx, st) }},
	}
	if o.Systemd {
		const afterCleaning = 2
		steps = slices.Insert(steps, afterCleaning, step{"make the nodes' operating systems", 20 * time.Minute,
			func(ctx context.Context) error { return installSystems(ctx, st) }})
	}
	return steps
}

// resumeSteps returns the steps that repair a running cluster.
func resumeSteps(st *state.State) []step {
	const long = time.Minute
	steps := []step{
		{"wait for the API server", long, func(ctx context.Context) error { return controlplane.AwaitReady(ctx, st) }},
	}
	for _, n := range st.Nodes {
		switch {
		case !n.Init.Alive():
			steps = append(steps, step{"start " + n.Name, long, func(ctx context.Context) error { return node.Start(ctx, st, n.Name) }})
		case n.Cut:
			steps = append(steps, step{"heal " + n.Name, long, func(ctx context.Context) error { return node.Heal(ctx, st, n.Name) }})
		}
	}
	return append(steps, step{"wait for nodes", long, func(ctx context.Context) error { return awaitNodes(ctx, st) }})
}

func binaryNames() []string {
	return []string{machine.Program, "kube", pauseProgram, addons.Program, addons.VolumeProgram}
}

const pauseProgram = "pause"

func install(st *state.State, from string) error {
	for _, name := range binaryNames() {
		if _, err := st.InstallBinary(filepath.Join(from, name)); err != nil {
			return err
		}
	}
	return nil
}

func makeCertificates(st *state.State) error {
	if err := pki.Create(st, network.KubernetesService(st.Network)); err != nil {
		return err
	}
	return pki.ClientKubeconfig(st, st.Kubeconfig(), "kubernetes-admin", "system:masters")
}

// startControlPlane saves state.json before it starts the control plane's machine, because the machine's init reads
// state.json.
func startControlPlane(ctx context.Context, st *state.State) (err error) {
	if st.Controllers, err = cgroup.Controllers(); err != nil {
		return err
	}
	if err := st.Save(); err != nil {
		return err
	}
	if err := network.CreateRouter(ctx, st); err != nil {
		return err
	}
	if err := network.KeepHostNamespace(st); err != nil {
		return err
	}
	if err := controlplane.Start(st); err != nil {
		return err
	}
	if err := registry.Start(st); err != nil {
		return err
	}
	init, err := machine.Launch(ctx, st, state.ControlPlaneName)
	if err != nil {
		return err
	}
	st.ControlPlane.Init = init
	return st.Save()
}

func bootNodes(ctx context.Context, st *state.State) error {
	for _, n := range st.Nodes {
		if err := node.Prepare(st, n); err != nil {
			return err
		}
		if err := node.Start(ctx, st, n.Name); err != nil {
			return err
		}
	}
	return nil
}

func loadImages(ctx context.Context, st *state.State) error {
	for _, n := range st.Nodes {
		if err := node.AwaitRuntime(ctx, st, n); err != nil {
			return err
		}
	}
	return image.LoadDefaults(ctx, st.Nodes, st.Binary(pauseProgram))
}

func join(ctx context.Context, st *state.State) error {
	if err := controlplane.StartClients(st); err != nil {
		return err
	}
	for _, n := range st.Nodes {
		if err := node.Join(ctx, st, n); err != nil {
			return err
		}
	}
	return nil
}
