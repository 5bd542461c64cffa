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

// unhosted names the spec fields that are set but have no effect without spec.baseDomain; "" if none is set.
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
		set.Unknown(kind, customv1.ReasonNoDomain, "spec.baseDomain is not set, so the instance has no host name and these fields have no effect: "+idle+"; set spec.baseDomain, for example to example.com")
	case m.Spec.BaseDomain == "":
		set.Remove(kind)
	case len(d.lostHosts) > 0:
		set.False(kind, customv1.ReasonHostTaken, strings.Join(d.lostHosts, ", ")+"; change spec.msName, spec.path, spec.baseDomain or spec.current to claim another host name")
	case m.Spec.Gateway != nil && !gateways:
		set.True(kind, customv1.ReasonNoGatewayAPI, "The Gateway API is not installed, so an Ingress replaces the HTTPRoute")
	default:
		set.True(kind, customv1.ReasonHosted, "Users reach the microservice at "+strings.Join(d.hosts, ", "))
	}
}

// authInput is the input for the condition AuthReady: whether the Secret allows any login, whether opcrew manages it,
// which entries are too expensive to check, and what is wrong with the shared credentials.
type authInput struct {
	usable, foreign bool
	costly          []string
	trouble         tenant.Trouble
}

// tooCostly returns a clause that names users who cannot log in because their password hashes are too expensive to
// check.
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
		set.True(kind, customv1.ReasonCredentials, "The auth proxy accepts the credentials in Secret "+auth.Sources(m)[0].Secret+in.tooCostly())
	case m.Spec.Auth != nil && !in.foreign:
		// The Secret may have been deleted by mistake. Running pods keep its last content, so users can still log in.
		set.False(kind, customv1.ReasonNoCredentials, noCredentials(m, in.foreign)+"; running pods keep their current credentials, but no user can log in to new pods; to lock out all users, create the Secret with an empty key "+names.HtpasswdKey)
	case m.Spec.Auth != nil || in.foreign:
		set.False(kind, customv1.ReasonNoCredentials, noCredentials(m, in.foreign)+in.tooCostly()+"; no user can log in, beginning about a minute after the Secret was changed")
	default:
		why := awaited(in.trouble, common.ReasonApplying, "opcrew is creating the credentials that all instances of the namespace share")
		set.False(kind, why.reason, why.message)
	}
}
