// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// volumesDir is where a node keeps its volumes. It is a path on the node, whose
// /var is its own: a lost node is a lost volume, as with real local disks.
const volumesDir = "/var/lib/local-path-provisioner"

// localPath makes volumes on the disk of the node that their first pod runs
// on. Its helper pods need the shell image.
func localPath(st *state.State) addon {
	const name, namespace = "local-path-provisioner", "local-path-storage"
	config := []byte(`{"nodePathMap": [{"node": "DEFAULT_PATH_FOR_NON_LISTED_NODES", "paths": ["` + volumesDir + `"]}]}` + "\n")
	return addon{
		name: name,
		prepare: func() (map[string]string, error) {
			values := map[string]string{"Image": image.ShellTag}
			return values, state.WriteFile(file(st, name, "config.json"), config, 0o644)
		},
		args: []string{
			st.Binary(VolumeProgram), "start",
			"--kubeconfig", kubeconfig(st, name),
			"--config", file(st, name, "config.json"),
			"--namespace", namespace,
			"--configmap-name", "local-path-config",
			"--service-account-name", "local-path-helper",
			"--helper-image", image.ShellTag,
		},
	}
}
