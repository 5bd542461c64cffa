// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/pki"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Program and VolumeProgram are additional binaries that the add-ons run. Program is built from cmd/addons, and
// VolumeProgram from a separate Go module.
const (
	Program       = "addons"
	VolumeProgram = "local-path-provisioner"
)

// addon is a process, such as CoreDNS, and the Kubernetes objects that belong to it.
type addon struct {
	// name is the name of the service, of the manifest and of the folder for the add-on's files. The add-on's
	// Kubernetes user is "localcluster:" followed by name.
	name string
	// prepare, if set, writes the files that the process reads, and returns the values for the manifest's {{.Key}}
	// placeholders.
	prepare func() (map[string]string, error)
	// args is the command line of the process.
	args []string
	// ready returns an error unless the add-on is ready. If ready is nil, Install does not wait for the add-on.
	ready func(ctx context.Context) error
}

// readyTimeout is how long Install waits for an add-on. It is generous, so that it suffices on a slow machine.
const readyTimeout = 60 * time.Second

// all lists the add-ons in the order in which Install starts them.
func all(st *state.State, api *applier) []addon {
	return []addon{coreDNS(st), metricsServer(st, api), localPath(st), loadBalancer(st)}
}

// Install applies the manifests, starts the add-ons and waits until they are ready. It may be called again for the same
// cluster. It calls say with a line of progress for each add-on that is ready.
func Install(ctx context.Context, st *state.State, say func(format string, args ...any)) error {
	api, err := newApplier(st.Kubeconfig())
	if err != nil {
		return err
	}
	addons := all(st, api)
	for _, a := range addons {
		if err := a.start(ctx, st, api); err != nil {
			return fmt.Errorf("add-on %s: %w", a.name, err)
		}
	}
	for _, a := range addons {
		if err := a.await(ctx, st); err != nil {
			return err
		}
		say("add-on %s is ready", a.name)
	}
	return nil
}

func (a addon) start(ctx context.Context, st *state.State, api *applier) error {
	if err := pki.ClientKubeconfig(st, kubeconfig(st, a.name), "localcluster:"+a.name); err != nil {
		return fmt.Errorf("create the kubeconfig of the add-on: %w", err)
	}
	objects, err := a.objects()
	if err != nil {
		return err
	}
	if err := api.apply(ctx, objects); err != nil {
		return err
	}
	return machine.Run(st, state.ControlPlaneName, machine.Service{Name: a.name, Args: slices.Clone(a.args)})
}

// objects returns the objects of the add-on's manifest. Before that, it calls prepare, which writes the process's
// files.
func (a addon) objects() ([]*unstructured.Unstructured, error) {
	var values map[string]string
	if a.prepare != nil {
		var err error
		if values, err = a.prepare(); err != nil {
			return nil, fmt.Errorf("write the files of the add-on: %w", err)
		}
	}
	return render(a.name, values)
}

// await waits until the add-on is ready. After a timeout its error contains the last lines of the process's log.
func (a addon) await(ctx context.Context, st *state.State) error {
	if a.ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		err := a.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("add-on %s is not ready: %w\nend of its log:\n%s", a.name, err,
				machine.LogTail(st, state.ControlPlaneName, a.name, 15))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// file returns the path of a file in the add-on's folder.
func file(st *state.State, addon, name string) string {
	return filepath.Join(st.MachineDir(state.ControlPlaneName), "addons", addon, name)
}

func kubeconfig(st *state.State, addon string) string { return file(st, addon, "kubeconfig") }
