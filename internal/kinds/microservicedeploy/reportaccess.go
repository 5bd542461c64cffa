// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"slices"
	"strings"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/hosts"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/tenant"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// unhosted names the fields that have no effect without a domain; "" if none is set.
func unhosted(m *customv1.MicroServiceDeploy) string {
	var fields []string
	for field, isSet := range map[string]bool{
		"spec.path": m.Spec.Path != "", "spec.current": m.Spec.Current != nil, "spec.ingressClassName": m.Spec.IngressClassName != "",
	} {
		if isSet {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return strings.Join(fields, ", ")
}

func reportHosts(set condition.Set, m *customv1.MicroServiceDeploy, d decision, gateways bool) {
	const kind = customv1.MicroServiceDeployHostReady
	m.Status.Hosts, m.Status.URL = d.hosts, hosts.URL(d.hosts)
	switch idle := unhosted(m); {
	case m.Spec.BaseDomain == "" && idle != "":
		set.Unknown(kind, customv1.ReasonNoDomain, "spec.baseDomain is not set, so that there is no host name and no effect of "+idle+"; set it, such as example.com")
	case m.Spec.BaseDomain == "":
		set.Remove(kind)
	case len(d.lostHosts) > 0:
		set.False(kind, customv1.ReasonHostTaken, strings.Join(d.lostHosts, ", ")+"; choose another msName, path or baseDomain, or spec.current")
	case m.Spec.Gateway != nil && !gateways:
		set.True(kind, customv1.ReasonNoGatewayAPI, "Gateway API is not installed: an Ingress stands in for the HTTPRoute")
	default:
		set.True(kind, customv1.ReasonHosted, "Reached at "+strings.Join(d.hosts, ", "))
	}
}

// authInput is what AuthReady follows from: whether the Secret with credentials lets any user in, whether it is the
// user's own, which entries cost too much to be compared, and why the tenant's is not as desired.
type authInput struct {
	usable, foreign bool
	costly          []string
	trouble         tenant.Trouble
}

// tooCostly adds to a message the users who are not let in because of the cost of their entries.
func (in authInput) tooCostly() string {
	if len(in.costly) == 0 {
		return ""
	}
	return "; " + strings.Join(in.costly, "; ")
}

func reportAuth(set condition.Set, m *customv1.MicroServiceDeploy, in authInput) {
	const kind = customv1.MicroServiceDeployAuthReady
	switch {
	case !m.Spec.NeedAuth:
		set.Remove(kind)
	case in.usable:
		set.True(kind, customv1.ReasonCredentials, "Asks for the credentials of Secret "+auth.Sources(m)[0].Secret+in.tooCostly())
	case m.Spec.Auth != nil && !in.foreign:
		// A deletion may be a mistake, so it does not lock all users out by itself.
		set.False(kind, customv1.ReasonNoCredentials, noCredentials(m, in.foreign)+"; pods that run keep the credentials that they have, new ones let no user in; empty its key "+names.HtpasswdKey+" instead to lock users out")
	case m.Spec.Auth != nil || in.foreign:
		set.False(kind, customv1.ReasonNoCredentials, noCredentials(m, in.foreign)+in.tooCostly()+"; no user is let in, from about a minute after it was changed")
	default:
		why := awaited(in.trouble, common.ReasonApplying, "The tenant's credentials are being created")
		set.False(kind, why.reason, why.message)
	}
}
