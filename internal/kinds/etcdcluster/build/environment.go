// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"slices"
	"strings"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

// From 3.4 on etcd does not start where an environment variable says what a flag says too, even if it is empty (etcd:
// pkg/flags, verifyEnv). The CRD refuses such variables; a spec that was stored before it did may have them.

// variableOf is the environment variable of a flag such as --name=db (etcd: pkg/flags, FlagToEnv).
func variableOf(flag string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return "ETCD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// passedOn are the variables of the spec that etcd gets in addition to its flags.
func passedOn(c *etcdv1beta2.EtcdCluster, flags []string) []etcdv1beta2.EnvVar {
	return slices.DeleteFunc(slices.Clone(settings.PodPolicy(c).EtcdEnv), func(env etcdv1beta2.EnvVar) bool {
		return slices.ContainsFunc(flags, func(flag string) bool { return variableOf(flag) == env.Name })
	})
}

// Shadowed reports the variables of the spec that etcd does not get; both results are empty if there are none.
func Shadowed(c *etcdv1beta2.EtcdCluster) (reason, message string) {
	args, shadowed := flags(c, model.Member{}, nil, versions.Desired(c)), []string{}
	passed := passedOn(c, args)
	for _, env := range settings.PodPolicy(c).EtcdEnv {
		if !slices.ContainsFunc(passed, func(p etcdv1beta2.EnvVar) bool { return p.Name == env.Name }) {
			shadowed = append(shadowed, env.Name)
		}
	}
	if len(shadowed) == 0 {
		return "", ""
	}
	return etcdv1beta2.ReasonVariablesShadowed, fmt.Sprintf(
		"spec.pod.etcdEnv: %s: not passed on, as the operator sets the flags of these names, and etcd does not start with both; leave them out",
		strings.Join(shadowed, ", "))
}
