// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// mostExamples is how many nodes a message names.
const mostExamples = 3

// Judgement is what the members of a pool report about its rules.
type Judgement struct {
	Active           int32
	members          int
	pending, refused []string // nodes with the reason
	others           []string // nodes with another firewall that was not changed
	opened           []string // nodes with another firewall that has the rules
	missing          []string // sources that do not exist
	tooLarge         error
	undelivered      string
}

// Judge compares the reports of a pool's members with its rules. undelivered is why the rules cannot be delivered.
func (w World) Judge(pool *nodesv1.NodePool, undelivered string) Judgement {
	text, err := nodefirewall.Encode(w.Rules(pool))
	out := Judgement{missing: w.Missing(pool), undelivered: undelivered}
	if errors.Is(err, nodefirewall.ErrTooLarge) {
		out.tooLarge = err
	}
	revision := nodefirewall.Revision(text)
	for i := range w.Nodes {
		if node := &w.Nodes[i]; isMember(pool, node) {
			out.members++
			out.add(pool, revision, node)
		}
	}
	for _, list := range [][]string{out.pending, out.refused, out.others, out.opened} {
		slices.Sort(list)
	}
	return out
}

// add judges the report of one member.
func (j *Judgement) add(pool *nodesv1.NodePool, revision string, node *corev1.Node) {
	text := node.Annotations[nodefirewall.ReportAnnotation]
	if text == "" {
		j.pending = append(j.pending, node.Name+" ("+without(node)+")")
		return
	}
	report, err := nodefirewall.ParseReport(text)
	switch {
	case err != nil:
		j.pending = append(j.pending, node.Name+" ("+err.Error()+")")
	case report.Active[pool.Name] == revision:
		j.addActive(pool, revision, node.Name, report)
	case report.Refused[pool.Name] == revision:
		j.refused = append(j.refused, node.Name+" ("+report.Message+")")
	case report.Message != "":
		j.pending = append(j.pending, node.Name+" ("+report.Message+")")
	default:
		j.pending = append(j.pending, node.Name+" (it has earlier rules)")
	}
}

// addActive judges a member that has the rules. With another firewall on it, they count when that one has them as well.
func (j *Judgement) addActive(pool *nodesv1.NodePool, revision, node string, report nodefirewall.Report) {
	if opensHost(pool) && report.Opened[pool.Name] != revision {
		j.pending = append(j.pending, node+" (firewall of the host: "+cmp.Or(report.HostMessage, "it has earlier rules")+")")
		return
	}
	j.Active++
	if len(report.Others) == 0 {
		return
	}
	entry := node + " (" + strings.Join(report.Others, ", ") + ")"
	if opensHost(pool) {
		j.opened = append(j.opened, entry)
	} else {
		j.others = append(j.others, entry)
	}
}

// without says why a node has no report.
func without(node *corev1.Node) string {
	if !isReady(node) {
		return "the node is not ready"
	}
	return "no report yet; kubectl -n " + nodefirewall.Namespace + " get pods shows its agent"
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// Report sets the condition of the firewall.
func (j Judgement) Report(set condition.Set) {
	const kind = nodesv1.NodePoolFirewallActive
	switch {
	case j.tooLarge != nil:
		set.False(kind, nodesv1.ReasonRulesTooLarge, j.tooLarge.Error()+"; name CIDRs instead of large pools. Nodes keep their previous rules")
	case j.undelivered != "":
		set.False(kind, nodesv1.ReasonRulesUndelivered, "Changes of the firewall cannot be delivered to the nodes: "+j.undelivered)
	case len(j.refused) > 0:
		set.False(kind, nodesv1.ReasonRulesRefused, fmt.Sprintf("%s refused the firewall rules and kept the previous ones: %s; change spec.firewall",
			counted(len(j.refused)), examples(j.refused)))
	case len(j.pending) > 0:
		set.False(kind, nodesv1.ReasonRulesPending, fmt.Sprintf("The firewall rules are not active yet on %s: %s", counted(len(j.pending)), examples(j.pending)))
	default:
		set.True(kind, nodesv1.ReasonRulesActive, j.summary())
	}
}

func (j Judgement) summary() string {
	text := "The firewall rules are active on " + counted(j.members)
	if len(j.missing) > 0 {
		text += "; these sources do not exist, so they open nothing yet: " + strings.Join(j.missing[:min(len(j.missing), mostExamples)], ", ")
	}
	if len(j.others) > 0 {
		text += "; the rules of another firewall hold as well on " + examples(j.others) + ", spec.firewall.hostFirewall: Open opens that one, too"
	}
	if len(j.opened) > 0 {
		text += "; another firewall has them as well on " + examples(j.opened)
	}
	return text
}

func counted(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

func examples(nodes []string) string {
	text := strings.Join(nodes[:min(len(nodes), mostExamples)], ", ")
	if more := len(nodes) - mostExamples; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Held returns the number of ready nodes that still have rules of a pool. A node that is not ready cannot report their
// removal; the agents stay until it has.
func (w World) Held(pool string) int {
	held := 0
	for i := range w.Nodes {
		if isReady(&w.Nodes[i]) && slices.Contains(PoolsOn(&w.Nodes[i]), pool) {
			held++
		}
	}
	return held
}

// PoolsOn returns the pools whose rules a node has, in the kernel or in firewalld or ufw. A node that has left a pool
// still has them for a moment.
func PoolsOn(node *corev1.Node) []string {
	report, err := nodefirewall.ParseReport(node.Annotations[nodefirewall.ReportAnnotation])
	if err != nil {
		return nil
	}
	pools := slices.Clone(report.HostPools)
	for pool, revision := range report.Active {
		if revision != "" {
			pools = append(pools, pool)
		}
	}
	return pools
}
