// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package namespaced converts the manifests of an installation for all namespaces to those of an installation for some
// namespaces. Each layer, which is one Deployment of the operator, gets a Role in each namespace, and a small
// ClusterRole for cluster-scoped resources. These roles are generated from the markers in the code, as controller-gen
// does for an installation for all namespaces.
package namespaced

import (
	"cmp"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/opcrew/opcrew/hack/rights/marker"
)

// clusterKinds are kinds that affect the whole cluster, so that an installation for some namespaces does not serve
// them. For example, the taints that a NodePool sets on nodes can evict pods of every namespace.
var clusterKinds = []string{"nodepool", "machineconfig"}

// clusterScoped lists, per API group, the resources without a namespace that the operator uses.
var clusterScoped = map[string][]string{
	"":                             {"nodes", "nodes/finalizers", "namespaces", "namespaces/finalizers", "persistentvolumes"},
	"admissionregistration.k8s.io": {"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"},
	"apiextensions.k8s.io":         {"customresourcedefinitions"},
	"authentication.k8s.io":        {"tokenreviews"},
	"authorization.k8s.io":         {"subjectaccessreviews"},
	"machineconfiguration.openshift.io": {
		"machineconfigs", "machineconfigpools", "machineconfigpools/status", "machineconfigpools/finalizers",
	},
	"node.k8s.io":       {"runtimeclasses"},
	"nodes.lailin.xyz":  {"nodepools", "nodepools/status", "nodepools/finalizers"},
	"scheduling.k8s.io": {"priorityclasses"},
	"storage.k8s.io":    {"storageclasses"},
}

// IsClusterScoped reports whether a resource that the operator uses has no namespace.
func IsClusterScoped(group, resource string) bool {
	return slices.Contains(clusterScoped[group], resource)
}

// Served returns the kinds of a layer (one Deployment of the operator) that an installation for some namespaces serves.
func Served(layer marker.Layer) []string {
	return slices.DeleteFunc(slices.Clone(layer.Kinds), func(kind string) bool { return slices.Contains(clusterKinds, kind) })
}

// roles returns the rules for a layer (one Deployment of the operator): those of its ClusterRole, and those of its Role
// in each namespace. It leaves out rights that apply only in opcrew's own namespaces, and rights that have a separate
// role.
func roles(layer marker.Layer, namespaces []string) (cluster, inNamespace []rbacv1.PolicyRule) {
	for _, right := range layer.Rights {
		if right.Namespace != "" || right.Role != "" || slices.Contains(clusterKinds, right.Kind) {
			continue
		}
		right.Each(func(group, resource, name, verb string) {
			one := rule(group, resource, name, verb)
			switch {
			case !IsClusterScoped(group, resource):
				inNamespace = add(inNamespace, one)
			case resource == "namespaces/finalizers":
				one.ResourceNames = namespaces
				cluster = add(cluster, one)
			default:
				cluster = add(cluster, one)
			}
		})
	}
	return cluster, inNamespace
}

func rule(group, resource, name, verb string) rbacv1.PolicyRule {
	out := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
	if name != "" {
		out.ResourceNames = []string{name}
	}
	return out
}

// add adds a rule to a sorted list of rules. It adds no rule that the list already contains.
func add(rules []rbacv1.PolicyRule, one rbacv1.PolicyRule) []rbacv1.PolicyRule {
	at, there := slices.BinarySearchFunc(rules, one, compare)
	if !there {
		return slices.Insert(rules, at, one)
	}
	rules[at].Verbs = slices.Compact(slices.Sorted(slices.Values(append(rules[at].Verbs, one.Verbs...))))
	return rules
}

func compare(a, b rbacv1.PolicyRule) int {
	return cmp.Or(slices.Compare(a.APIGroups, b.APIGroups), slices.Compare(a.Resources, b.Resources), slices.Compare(a.ResourceNames, b.ResourceNames))
}

// check refuses a list of namespaces that would be a mistake, such as an empty list or opcrew's own namespace.
func check(namespaces []string) error {
	if len(namespaces) == 0 {
		return fmt.Errorf("name at least one namespace: NAMESPACES=a,b")
	}
	for _, name := range namespaces {
		if name == ActivityNamespace || name == FirewallNamespace || name == OperatorNamespace {
			return fmt.Errorf("%s is opcrew's own namespace, which contains no objects of users; leave it out of NAMESPACES", name)
		}
	}
	return nil
}
