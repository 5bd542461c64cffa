// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Place is the node and zone in which a member runs. Zone is "" if the node has none.
type Place struct{ Member, Node, Zone string }

// Domain is a failure domain: a node or a zone, with the members that run there.
type Domain struct {
	Name    string
	IsZone  bool
	Members []string
}

// Cost describes what the application loses if some members fail, such as "3 of 3 members: quorum". Harms is true if
// the remaining members cannot compensate for the loss.
type Cost struct {
	Words string
	Harms bool
}

// Domains groups members by node and by zone. It returns all nodes first, and then all zones, each sorted by name.
func Domains(places []Place) []Domain {
	nodes, zones := map[string][]string{}, map[string][]string{}
	for _, place := range places {
		nodes[place.Node] = append(nodes[place.Node], place.Member)
		if place.Zone != "" {
			zones[place.Zone] = append(zones[place.Zone], place.Member)
		}
	}
	return append(domains(nodes, false), domains(zones, true)...)
}

func domains(members map[string][]string, zones bool) []Domain {
	var out []Domain
	for _, name := range slices.Sorted(maps.Keys(members)) {
		out = append(out, Domain{Name: name, IsZone: zones, Members: slices.Sorted(slices.Values(members[name]))})
	}
	return out
}

// ReportPlacement sets condition Placement from the places of the members and the cost of losing a node or zone. If no
// member is on a node, it removes the condition.
func ReportPlacement(set condition.Set, places []Place, cost func(members []string) Cost) {
	const kind = common.ConditionPlacement
	all := Domains(places)
	if len(all) == 0 {
		set.Remove(kind)
		return
	}
	var harmful []Domain
	for _, domain := range all {
		if len(domain.Members) > 1 && cost(domain.Members).Harms {
			harmful = append(harmful, domain)
		}
	}
	switch {
	case len(harmful) == 0:
		set.True(kind, common.ReasonSpread, "At worst, "+losing(worst(all, cost), cost))
	case harmful[0].IsZone:
		set.False(kind, common.ReasonSharedZone, "L"+losses(harmful, cost)[1:])
	default:
		set.False(kind, common.ReasonSharedNode, "L"+losses(harmful, cost)[1:])
	}
}

// worst returns the domain whose loss costs most. A loss that does harm always ranks first; after that the number of
// members decides.
func worst(all []Domain, cost func([]string) Cost) Domain {
	weight := func(d Domain) int {
		if cost(d.Members).Harms {
			return len(d.Members) + 1<<20
		}
		return len(d.Members)
	}
	return slices.MaxFunc(all, func(a, b Domain) int { return cmp.Compare(weight(a), weight(b)) })
}

// mostNamed is the largest number of domains that a message names, and of members that it names for each domain.
const mostNamed = 5

func losses(all []Domain, cost func([]string) Cost) string {
	var out []string
	for _, domain := range all[:min(len(all), mostNamed)] {
		out = append(out, losing(domain, cost))
	}
	return strings.Join(out, "; ") + more(len(all))
}

// losing describes the cost of losing a domain, such as "losing node1 (db-0, db-1) loses 2 of 3 members: quorum".
func losing(domain Domain, cost func([]string) Cost) string {
	name := domain.Name
	if domain.IsZone {
		name = "zone " + name
	}
	members := strings.Join(domain.Members[:min(len(domain.Members), mostNamed)], ", ") + more(len(domain.Members))
	return fmt.Sprintf("losing %s (%s) loses %s", name, members, cost(domain.Members).Words)
}

func more(n int) string {
	if n <= mostNamed {
		return ""
	}
	return fmt.Sprintf(" and %d more", n-mostNamed)
}
