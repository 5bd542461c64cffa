// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// injectionAttacks returns attacks that inject text into files, shell commands and paths.
func injectionAttacks() []attack {
	refused := func(name, source, manifest string, words ...string) attack {
		return attack{name: name, source: source, needs: schema, manifest: manifest, refused: words}
	}
	return []attack{
		refused("a second line in redis.conf", "OWASP K09", redisPod(`redisConfig: {maxmemory-policy: "noeviction\nloadmodule /tmp/x.so"}`), "one line without quotes"),
		refused("a name of redis.conf with a second line", "OWASP K09", redisPod(`redisConfig: {"save \nloadmodule": "x"}`), "names must be those of redis.conf"),
		refused("commands of Redis that run programs", "OWASP K09", redisPod(`redisConfig: {enable-debug-command: "yes"}`), "redisConfig"),
		refused("a user of Redis with rules of its own", "OWASP K06", redisPod(`username: "admin on +@all"`), "username"),
		refused("the operator's own user of Redis", "OWASP K06", redisPod(`username: opcrew`), "username"),
		refused("a shell in the repository of etcd", "OWASP K02", etcdWith(`repository: "quay.io/etcd;id"`), "repository must be an image"),
		refused("variables of etcd that opcrew sets", "review 3", etcdWith(`pod: {etcdEnv: [{name: ETCD_INITIAL_CLUSTER, value: "x=http://mallory:2380"}]}`), "etcdEnv"),
		refused("a version of etcd with a path", "OWASP K02", strings.Replace(etcdWith(""), "3.6.16", `"3.6.16/../../x:1"`, 1), "version must be a number"),
		refused("a path of a backup that leaves its volume", "CVE-2021-25741, CVE-2022-24348 (Argo CD)", backup(`storageType: PVC, pvc: {claimName: c, path: "../../etc/passwd"}`), "path must be a file on the volume"),
		refused("an endpoint of a backup that is no URL", "CVE-2020-8555", backupTo(`"file:///etc/passwd"`), "etcdEndpoints"),
		refused("an endpoint of a backup with a second line", "CVE-2020-8555", backupTo(`"http://a:2379/ --x"`), "etcdEndpoints"),
		refused("a mount of a Diva that leaves its place", "CVE-2021-30465", strings.Replace(system("", ""), "/extra}", "/extra/../etc/opcrew/ssh}", 1), "mountPath"),
		refused("a mount of a Diva over its keys", "CVE-2021-30465", strings.Replace(system("", ""), "/extra}", "/etc/opcrew/ssh}", 1), "mountPath"),
		refused("a user of ssh with options", "CVE-2023-51385 (OpenSSH)", system("", `ssh: {user: "root -oProxyCommand=id"}`), "spec.ssh.user"),
		refused("a user of ssh with a second line of the inventory", "CVE-2023-51385 (OpenSSH)", system("", `ssh: {user: "root\nansible_connection=local"}`), "spec.ssh.user"),
		refused("a domain of etcd with a second name", "review 3", etcdWith(`pod: {ClusterDomain: "x y"}`), "ClusterDomain"),
		{name: "an image with a second line", source: "OWASP K02", needs: imageCheck,
			manifest: strings.Replace(app("size: 1"), `"nginx:1.26"`, `"nginx:1.26\nprivileged"`, 1), stops: &report{"InvalidImage", nil},
			harm: aContainerHas("an image of two lines", func(c corev1.Container) bool { return strings.Contains(c.Image, "\n") }),
			control: func(w *world) {
				w.has(`{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {containers: [{name: a, image: "a\nb"}]}}`)
			}},
	}
}
