// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
)

// Outlook is what is known, before a machine is dead, about what a remediation needs.
type Outlook struct {
	// Unmatched are the fields onNodes whose labels no node has.
	Unmatched []string
	// Missing are the Secrets and keys in secretEnvs that do not exist.
	Missing []Missing
}

// Missing is a Secret that does not exist, or lacks a key.
type Missing struct {
	Field, Secret string
	Key           string // empty if the Secret does not exist
}

// command is a command of a remediation, and its field in the spec.
type command struct {
	field string
	nodesv1.RemediationCommand
}

func commands(spec *nodesv1.Remediation) []command {
	return []command{{"spec.remediation.fence", spec.Fence}, {"spec.remediation.powerStatus", spec.PowerStatus}}
}

// RunsOn reports whether a NodePool selects a node by its labels for the commands of its remediation.
func RunsOn(pool *nodesv1.NodePool, node *corev1.Node) bool {
	return pool.Spec.Remediation != nil && slices.ContainsFunc(commands(pool.Spec.Remediation), func(c command) bool {
		return len(c.OnNodes) > 0 && has(node, c.OnNodes)
	})
}

// unmatched returns the fields onNodes whose labels no node has.
func unmatched(spec *nodesv1.Remediation, nodes []corev1.Node) []string {
	var out []string
	for _, c := range commands(spec) {
		if len(c.OnNodes) > 0 && !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return has(&n, c.OnNodes) }) {
			out = append(out, c.field+".onNodes")
		}
	}
	return out
}

// hindrances returns why no machine of a pool with a number of nodes can be fenced; empty if nothing is wrong.
func (o Outlook) hindrances(spec *nodesv1.Remediation, nodes int) string {
	out := []string{}
	if why := neverHealthy(spec, nodes); why != "" {
		out = append(out, why)
	}
	for _, field := range o.Unmatched {
		out = append(out, "No node has the labels in "+field+", so the command cannot run; label a node, or correct the field")
	}
	for _, m := range o.Missing {
		out = append(out, m.String())
	}
	return strings.Join(out, ". ")
}

// neverHealthy says why too few nodes are Ready whenever one of them is not; empty if enough can be.
func neverHealthy(spec *nodesv1.Remediation, nodes int) string {
	need := minHealthy(spec, nodes)
	limit := nodesv1.DefaultMinHealthy + " by default"
	if spec.MinHealthy != nil {
		limit = spec.MinHealthy.String()
	}
	switch {
	case nodes == 0 || need < nodes:
		return ""
	case nodes == 1:
		return "The pool has one node, and a machine is fenced only while another node of its pool is Ready; add nodes"
	}
	return fmt.Sprintf("spec.remediation.minHealthy (%s) requires %d Ready nodes, and the pool has %d, so none is fenced when one of them is dead; lower minHealthy, or add nodes", limit, need, nodes)
}

func (m Missing) String() string {
	where := fmt.Sprintf("Secret %s in namespace %s", m.Secret, pipeline.Namespace)
	if m.Key == "" {
		return where + " does not exist, so the command in " + m.Field + " cannot run; create it"
	}
	return where + " has no key " + m.Key + ", so the command in " + m.Field + " cannot run; add the key, or correct secretEnvs"
}

// secretsOf returns the Secrets that a spec names.
func secretsOf(spec *nodesv1.Remediation) []string {
	var out []string
	for _, c := range commands(spec) {
		for _, env := range c.SecretEnvs {
			out = append(out, env.Secret)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// missing compares the Secrets that a spec names with those that exist. Secrets without an entry are not known.
func missing(spec *nodesv1.Remediation, found map[string]*corev1.Secret) []Missing {
	var out []Missing
	for _, c := range commands(spec) {
		for _, env := range c.SecretEnvs {
			secret, known := found[env.Secret]
			m := Missing{Field: c.field, Secret: env.Secret}
			switch {
			case !known:
				continue
			case secret != nil:
				if _, there := secret.Data[env.Key]; there {
					continue
				}
				m.Key = env.Key
			}
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(a.Secret, b.Secret), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Key, b.Key))
	})
	return slices.Compact(out)
}
