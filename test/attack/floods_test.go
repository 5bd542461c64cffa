// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"fmt"
	"strings"
)

// floodAttacks returns attacks that create or request too many things.
func floodAttacks() []attack {
	var envs, ports []string
	for i := range 300 {
		envs = append(envs, fmt.Sprintf("{name: V%d, value: x}", i))
		ports = append(ports, fmt.Sprintf("{port: %d}", i+1))
	}
	list := func(items []string) string { return "[" + strings.Join(items, ", ") + "]" }
	refused := func(name, manifest string, words ...string) attack {
		return attack{name: name, source: "OWASP K04, CVE-2019-11253", needs: schema, manifest: manifest, refused: words}
	}
	return []attack{
		refused("variables without end", app("envs: "+list(envs)), "envs", "256"),
		refused("ports without end", micro("ports: "+list(ports)), "ports"),
		refused("a configuration of a megabyte", micro(`config: "A=`+strings.Repeat("x", 1<<20)+`"`), "config"),
		refused("an image reference of a megabyte", strings.Replace(app("size: 1"), "nginx:1.26", "nginx:"+strings.Repeat("1", 1<<20), 1), "image"),
		refused("pods without end", app("size: 2000000000"), "size"),
		refused("members without end", strings.Replace(etcdWith(""), "size: 1", "size: 1000000", 1), "size"),
		refused("clients without end", strings.Replace(system("", ""), "replicas: 2", "replicas: 100000000", 1), "replicas"),
		refused("volumes of a Redis cluster without end", redisPod("volumes: "+list(numbered("{name: v%d, emptyDir: {}}", 200))), "volumes"),
		refused("backups every second", backup(`storageType: PVC, pvc: {claimName: c, path: k}, backupPolicy: {backupIntervalInSecond: 1}`), "backupIntervalInSecond"),
	}
}

func numbered(format string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}
