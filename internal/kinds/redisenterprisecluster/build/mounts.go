// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

// Names of the pod's volumes and the paths where its containers mount them.
const (
	dataMount                   = "/data"
	agentVolume, agentMount     = "opcrew", "/opcrew"
	secretsVolume, secretsMount = "opcrew-secrets", "/secrets"
	configVolume, configMount   = "opcrew-config", "/etc/opcrew"
	agentBinary                 = agentMount + "/opcrew-agent"
	runVolume                   = "opcrew-run"
	// RunMount is the directory that all containers of a pod share.
	RunMount = "/var/opcrew"

	certificateVolume, certificateMount = "opcrew-certificate", "/certificate"

	// probesPort is the port on which the agent serves the probes of the pod.
	probesPort = 8080
)

// Names of the directories and the file that the agent reads, below secretsMount and configMount.
const (
	configKey = "redis.conf"

	usersFolder, systemFolder = "users", "system"
)
