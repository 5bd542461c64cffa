// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"slices"
	"strings"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// From 3.4 on etcd does not start where an environment variable says what a flag says too, even if it is empty (etcd:
// pkg/flags, verifyEnv). The CRD refuses such variables; a spec that was stored before it did may have them.

// variableOf is the environment variable of a flag such as --name=db (etcd: pkg/flags, FlagToEnv).
func variableOf(flag string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return "ETCD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// passedOn are the variables of the spec that etcd gets beside the flags.
func passedOn(c *etcdv1beta2.EtcdCluster, flags []string) []etcdv1beta2.EnvVar {
	return slices.DeleteFunc(slices.Clone(policyOf(c).EtcdEnv), func(env etcdv1beta2.EnvVar) bool {
		return slices.ContainsFunc(flags, func(flag string) bool { return variableOf(flag) == env.Name })
	})
}

// Overridden names the variables of the spec that etcd does not get.
func (r *reconciler) Overridden(c *etcdv1beta2.EtcdCluster, f facts) (reason, message string) {
	flags, overridden := f.flags(c, member{}, nil, wanted(c)), []string{}
	passed := passedOn(c, flags)
	for _, env := range policyOf(c).EtcdEnv {
		if !slices.ContainsFunc(passed, func(p etcdv1beta2.EnvVar) bool { return p.Name == env.Name }) {
			overridden = append(overridden, env.Name)
		}
	}
	if len(overridden) == 0 {
		return "", ""
	}
	return etcdv1beta2.ReasonVariablesShadowed, fmt.Sprintf(
		"spec.pod.etcdEnv: %s: not passed on, as the operator sets the flags of these names, and etcd does not start with both; leave them out",
		strings.Join(overridden, ", "))
}

// policyOf is spec.pod, never nil.
func policyOf(c *etcdv1beta2.EtcdCluster) *etcdv1beta2.PodPolicy {
	if c.Spec.Pod == nil {
		return &etcdv1beta2.PodPolicy{}
	}
	return c.Spec.Pod
}
