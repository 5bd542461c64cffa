// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

// Volumes of a pod, and where its containers mount them.
const (
	dataMount                   = "/data"
	agentVolume, agentMount     = "opcrew", "/opcrew"
	secretsVolume, secretsMount = "opcrew-secrets", "/secrets"
	configVolume, configMount   = "opcrew-config", "/etc/opcrew"
	agentBinary                 = agentMount + "/opcrew-agent"
	runVolume                   = "opcrew-run"
	// RunMount is the directory that the programs of a pod share.
	RunMount = "/var/opcrew"

	certificateVolume, certificateMount = "opcrew-certificate", "/certificate"

	// probesPort is the port on which the agent serves the probes of the pod.
	probesPort = 8080
)

// Folders below secretsMount, and the file below configMount, that the agent reads.
const (
	configKey = "redis.conf"

	usersFolder, systemFolder = "users", "system"
)
