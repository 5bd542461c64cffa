// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// make install-machineconfig must not take over the CRDs of OpenShift, and make uninstall-machineconfig must not delete
// the configurations of hosts. The test replaces kubectl with a program that records its arguments.
func TestMachineConfigIsInstalledOnlyWhereItHarmsNoOne(t *testing.T) {
	const crd, pool = "customresourcedefinition.apiextensions.k8s.io/machineconfigs.machineconfiguration.openshift.io", "machineconfigpool/worker"
	for name, c := range map[string]struct{ command, foreign, pools, want string }{
		"a free cluster gets it":               {command: "install", want: "apply --server-side -k config/machineconfig"},
		"OpenShift's CRDs stay":                {command: "install", foreign: crd},
		"CRDs with other names do not matter":  {command: "install", foreign: crd + ".example.com", want: "apply --server-side -k config/machineconfig"},
		"it goes when no pool is left":         {command: "uninstall", want: "delete --ignore-not-found -k config/machineconfig"},
		"it stays while pools exist":           {command: "uninstall", pools: pool},
		"OpenShift's CRDs are not deleted":     {command: "uninstall", foreign: crd},
		"a command that does not exist is not": {command: "deploy"},
	} {
		t.Run(name, func(t *testing.T) {
			calls, err := runSeparately(t, c.command, c.foreign, c.pools)
			if changed := changes(calls); changed != c.want || (err == nil) != (c.want != "") {
				t.Errorf("expected kubectl %q and an error only without it, got %q and %v", c.want, changed, err)
			}
		})
	}
}

// runSeparately runs the script with a kubectl that answers with the given objects. It returns the calls of kubectl.
func runSeparately(t *testing.T, command, foreign, pools string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	fake := filepath.Join(dir, "kubectl")
	text := "#!/bin/sh\necho \"$*\" >> " + dir + "/calls\ncase \"$*\" in\n*customresourcedefinitions*) echo '" + foreign + "' ;;\n*machineconfigpools*) echo '" + pools + "' ;;\nesac\n"
	if err := os.WriteFile(fake, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), filepath.Join(root, "hack/machineconfig.sh"), command)
	script.Env = append(os.Environ(), "KUBECTL="+fake)
	err := script.Run()
	calls, readErr := os.ReadFile(filepath.Join(dir, "calls"))
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(calls), err
}

// changes returns the call of kubectl that changes the cluster.
func changes(calls string) string {
	for call := range strings.Lines(calls) {
		if !strings.HasPrefix(call, "get ") {
			return strings.TrimSpace(call)
		}
	}
	return ""
}

func TestEveryObjectOfAnOptInKindCarriesTheLabelOfOpcrew(t *testing.T) {
	for _, kind := range kinds.All() {
		if !kind.OptIn {
			continue
		}
		for _, object := range operator.Built(t, root, folderOf(kind)) {
			if object.GetLabels()["app.kubernetes.io/part-of"] != "opcrew" {
				t.Errorf("expected %s %s to carry the label by which users and the operator know what is opcrew's", object.GetKind(), object.GetName())
			}
		}
	}
}
