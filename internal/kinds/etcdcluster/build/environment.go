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

// Since 3.4, etcd does not start if an environment variable repeats a flag, even if the variable is empty (etcd:
// pkg/flags, verifyEnv). The CRD forbids such variables, but a spec that is older than this rule may have them.

// variableOf returns the environment variable that etcd reads for a flag, such as ETCD_NAME for --name=db (etcd:
// pkg/flags, FlagToEnv).
func variableOf(flag string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return "ETCD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// passedOn returns the variables of spec.pod.etcdEnv that the pod sets: all except those that set the same option as
// one of etcd's command-line flags.
func passedOn(c *etcdv1beta2.EtcdCluster, flags []string) []etcdv1beta2.EnvVar {
	return slices.DeleteFunc(slices.Clone(settings.PodPolicy(c).EtcdEnv), func(env etcdv1beta2.EnvVar) bool {
		return slices.ContainsFunc(flags, func(flag string) bool { return variableOf(flag) == env.Name })
	})
}

// Shadowed returns a reason and a message that names the variables of the spec that the pod does not set; both are
// empty if the pod sets all of them.
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
		"spec.pod.etcdEnv: opcrew does not pass on %s, as it sets the flags of the same names, and etcd does not start with both; remove these variables",
		strings.Join(shadowed, ", "))
}
