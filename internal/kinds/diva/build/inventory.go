// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
)

// Keys of the inventory's ConfigMap, and the paths of their files in pods. The default configurations of ssh and sshd
// include all files in the folders of sshConfig and sshdConfig.
const (
	HostsKey      = "hosts"
	sshConfigKey  = "ssh_config"
	sshdConfigKey = "sshd_config"

	inventoryDir = "/etc/opcrew/inventory"
	sshConfig    = "/etc/ssh/ssh_config.d/opcrew.conf"
	sshdConfig   = "/etc/ssh/sshd_config.d/opcrew.conf"
)

// The connections of a client pod stay open when its node dies. By default, ssh and ansible would then wait about 15
// minutes. With these settings they give up after aliveCount missed keepalives, which are aliveInterval seconds apart.
const (
	aliveInterval = 10
	aliveCount    = 3
)

// Inventory returns the ConfigMap that lists the client pods for the manager pods, and configures ssh and sshd.
func Inventory(d *opsv1.Diva) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(names.InventoryName(d), d.Namespace).WithLabels(names.Labels(d)).WithData(map[string]string{
		HostsKey: Hosts(d), sshConfigKey: clientConfig(d), sshdConfigKey: serverConfig(d),
	})
}

// Hosts returns ansible's inventory of the client pods. Its SSH settings override the ssh configuration in the image.
func Hosts(d *opsv1.Diva) string {
	var out strings.Builder
	out.WriteString("[clients]\n")
	id := names.Clients(d)
	for _, name := range id.Names(d.Spec.Client.Replicas) {
		fmt.Fprintf(&out, "%s ansible_host=%s.%s.%s.svc\n", name, name, id.Name, id.Namespace)
	}
	fmt.Fprintf(&out, "\n[clients:vars]\nansible_user=%s\nansible_port=%d\n", names.SSHUser(d), names.SSHPort(d))
	fmt.Fprintf(&out, "ansible_ssh_common_args='-o IdentityFile=%[1]s/identity -o IdentityFile=%[1]s/identity-next -o UserKnownHostsFile=%[1]s/known_hosts -o StrictHostKeyChecking=yes -o ConnectTimeout=10 -o ServerAliveInterval=%[2]d -o ServerAliveCountMax=%[3]d'\n",
		filesDir, aliveInterval, aliveCount)
	return out.String()
}

// clientConfig returns the ssh configuration for the manager pods. It applies only to connections to client pods.
func clientConfig(d *opsv1.Diva) string {
	id := names.Clients(d)
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
`, id.Name, id.Namespace, names.SSHUser(d), names.SSHPort(d), filesDir, aliveInterval, aliveCount)
}

// serverConfig returns the sshd configuration for the client pods. sshd then accepts the keys from opcrew in addition
// to the keys in the image.
func serverConfig(d *opsv1.Diva) string {
	out := fmt.Sprintf("HostKey %[1]s/ssh_host_ed25519_key\nAuthorizedKeysFile .ssh/authorized_keys %[1]s/authorized_keys\n", filesDir)
	if port := names.SSHPort(d); port != opsv1.DefaultSSHPort {
		out = fmt.Sprintf("Port %d\n", port) + out
	}
	return out
}
