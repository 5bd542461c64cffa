// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// volumesDir is the directory in which a node stores volumes. Each node has a separate /var. So the volumes of a lost
// node are lost too, as with real local disks.
const volumesDir = "/var/lib/local-path-provisioner"

// localPath provisions a volume on the disk of the node that runs the volume's first pod. It does so with helper pods,
// which use the shell image (busybox).
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
