// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Annotations with which Cluster API records from which template a machine was made.
const (
	clonedFromName = "cluster.x-k8s.io/cloned-from-name"
	clonedFromKind = "cluster.x-k8s.io/cloned-from-groupkind"
)

const (
	// maxText is the length of the longest text that is kept of an object. Longer ones are no names or ids.
	maxText = 512
	// maxGroups is the number of security groups that are kept of an object.
	maxGroups = 64
)

// Record is what the object of a machine shows: a NodeClaim of Karpenter, or a machine of a provider of Cluster API.
type Record struct {
	// NodeName and ProviderID identify the node; Cluster API has only the provider ID.
	NodeName, ProviderID string
	// Kind and Name are what made the machine; Name is empty if the object does not show it.
	Kind schema.GroupKind
	Name string
	// Groups are ids of security groups that the machine has. It may have more.
	Groups []string
	// Drifted is set if Karpenter reports that the machine is not as its NodeClass now requires.
	Drifted bool
}

// RecordOf returns what the object of a machine shows. It accepts any content.
func RecordOf(source Source, object *unstructured.Unstructured) Record {
	if source.Karpenter() {
		return claim(object.Object)
	}
	return providerMachine(object)
}

func claim(object map[string]any) Record {
	return Record{
		NodeName:   text(object, "status", "nodeName"),
		ProviderID: text(object, "status", "providerID"),
		Kind:       schema.GroupKind{Group: text(object, "spec", "nodeClassRef", "group"), Kind: text(object, "spec", "nodeClassRef", "kind")},
		Name:       text(object, "spec", "nodeClassRef", "name"),
		Drifted:    drifted(object),
	}
}

func drifted(object map[string]any) bool {
	for _, c := range list(object, "status", "conditions") {
		if text(c, "type") == "Drifted" {
			return text(c, "status") == "True"
		}
	}
	return false
}

// providerMachine reads the fields that the contract of Cluster API requires, and the security groups of an AWSMachine.
func providerMachine(object *unstructured.Unstructured) Record {
	return Record{
		ProviderID: text(object.Object, "spec", "providerID"),
		Kind:       schema.ParseGroupKind(text(object.Object, "metadata", "annotations", clonedFromKind)),
		Name:       text(object.Object, "metadata", "annotations", clonedFromName),
		Groups:     machineGroups(object.Object),
	}
}

// machineGroups returns the groups that an AWSMachine names. It also has groups of its AWSCluster, which it does not
// show.
func machineGroups(object map[string]any) []string {
	var out []string
	for _, g := range list(object, "spec", "additionalSecurityGroups") {
		out = appendGroup(out, text(g, "id"))
	}
	overrides, _, _ := unstructured.NestedFieldNoCopy(object, "spec", "securityGroupOverrides")
	byRole, _ := overrides.(map[string]any)
	for role := range byRole {
		out = appendGroup(out, text(byRole, role))
	}
	return out
}

// ClassGroups returns the ids and names of the security groups that the status of a NodeClass shows: all groups of its
// machines. It returns nothing for NodeClasses without this field, such as that of Azure.
func ClassGroups(class *unstructured.Unstructured) []string {
	var out []string
	for _, g := range list(class.Object, "status", "securityGroups") {
		out = appendGroup(appendGroup(out, text(g, "id")), text(g, "name"))
	}
	return out
}

func appendGroup(groups []string, group string) []string {
	if group == "" || len(groups) >= maxGroups {
		return groups
	}
	return append(groups, group)
}

// text returns a text in an object; empty if there is none, or it is too long.
func text(object map[string]any, path ...string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	if s, ok := value.(string); ok && len(s) <= maxText {
		return s
	}
	return ""
}

// list returns the maps in a list of an object.
func list(object map[string]any, path ...string) []map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	items, _ := value.([]any)
	var out []map[string]any
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
