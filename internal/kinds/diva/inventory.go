// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// Keys of the inventory's ConfigMap, and where their files are in the pods. The last two are
// of the kind that the configurations of ssh and sshd include of themselves.
const (
	hostsKey      = "hosts"
	sshConfigKey  = "ssh_config"
	sshdConfigKey = "sshd_config"

	inventoryDir = "/etc/opcrew/inventory"
	sshConfig    = "/etc/ssh/ssh_config.d/opcrew.conf"
	sshdConfig   = "/etc/ssh/sshd_config.d/opcrew.conf"
)

// A client whose node has died says nothing, not even that it is gone. ssh, and the connection
// that ansible keeps for later, would wait for it for a quarter of an hour; so they give up
// when it has missed aliveCount questions, aliveInterval seconds apart.
const (
	aliveInterval = 10
	aliveCount    = 3
)

// inventory declares what tells the manager of the clients.
func inventory(d *opsv1.Diva) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(inventoryName(d), d.Namespace).WithLabels(labels(d)).WithData(map[string]string{
		hostsKey: hosts(d), sshConfigKey: clientConfig(d), sshdConfigKey: serverConfig(d),
	})
}

// hosts is ansible's inventory. What it says of keys holds whatever the image's own
// configuration of ssh is.
func hosts(d *opsv1.Diva) string {
	var out strings.Builder
	out.WriteString("[clients]\n")
	id := clients(d)
	for _, name := range id.Names(d.Spec.Client.Replicas) {
		fmt.Fprintf(&out, "%s ansible_host=%s.%s.%s.svc\n", name, name, id.Name, id.Namespace)
	}
	fmt.Fprintf(&out, "\n[clients:vars]\nansible_user=%s\nansible_port=%d\n", sshUser(d), sshPort(d))
	fmt.Fprintf(&out, "ansible_ssh_common_args='-o IdentityFile=%[1]s/identity -o IdentityFile=%[1]s/identity-next -o UserKnownHostsFile=%[1]s/known_hosts -o StrictHostKeyChecking=yes -o ConnectTimeout=10 -o ServerAliveInterval=%[2]d -o ServerAliveCountMax=%[3]d'\n",
		filesDir, aliveInterval, aliveCount)
	return out.String()
}

// clientConfig has ssh in the manager use the keys for clients, and for no one else.
func clientConfig(d *opsv1.Diva) string {
	id := clients(d)
	return fmt.Sprintf(`Host *.%[1]s *.%[1]s.%[2]s *.%[1]s.%[2]s.svc *.%[1]s.%[2]s.svc.* %[1]s-*
    User %[3]s
    Port %[4]d
    IdentityFile %[5]s/identity
    IdentityFile %[5]s/identity-next
    UserKnownHostsFile %[5]s/known_hosts
    StrictHostKeyChecking yes
    ConnectTimeout 10
    ServerAliveInterval %[6]d
    ServerAliveCountMax %[7]d
`, id.Name, id.Namespace, sshUser(d), sshPort(d), filesDir, aliveInterval, aliveCount)
}

// serverConfig has sshd in the clients let in the manager, beside whom the image lets in.
func serverConfig(d *opsv1.Diva) string {
	out := fmt.Sprintf("HostKey %[1]s/ssh_host_ed25519_key\nAuthorizedKeysFile .ssh/authorized_keys %[1]s/authorized_keys\n", filesDir)
	if port := sshPort(d); port != opsv1.DefaultSSHPort {
		out = fmt.Sprintf("Port %d\n", port) + out
	}
	return out
}
