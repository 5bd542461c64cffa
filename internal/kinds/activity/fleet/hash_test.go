// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

func TestAnApprovalIsBoundToWhatRuns(t *testing.T) {
	approved := func(a *egov1.Activity) { a.Spec.Hosts.Approval = &egov1.Approval{Required: true} }
	hash := Hash(fleetOf(approved))
	for name, c := range map[string]struct {
		change activitytest.Option
		same   bool
	}{
		"another command":           {func(a *egov1.Activity) { a.Spec.Command = "reboot" }, false},
		"other hosts":               {func(a *egov1.Activity) { a.Spec.Hosts.NodePool = "db" }, false},
		"a higher budget":           {func(a *egov1.Activity) { a.Spec.Hosts.MaxUnavailable = new(intstr.FromInt32(9)) }, false},
		"another run":               {func(a *egov1.Activity) { a.Spec.Run = new(int64(2)) }, false},
		"another requester":         {func(a *egov1.Activity) { a.Spec.Requester = &egov1.Requester{Username: "eve"} }, false},
		"a copy of the object":      {func(a *egov1.Activity) { a.UID = "another" }, false},
		"over SSH":                  {ofMachines, false},
		"the first run, if written": {func(a *egov1.Activity) { a.Spec.Run = new(int64(1)) }, true},
		"a cancel":                  {func(a *egov1.Activity) { a.Spec.Cancel = true }, true},
		"the approval itself":       {func(a *egov1.Activity) { a.Spec.Hosts.Approval.ApprovedHash = hash }, true},
	} {
		activitytest.Check(t, name+": same hash", Hash(fleetOf(approved, c.change)) == hash, c.same)
	}
}

func ofMachines(a *egov1.Activity) {
	a.Spec.Hosts.NodePool = ""
	a.Spec.Hosts.SSH = &egov1.SSHHosts{Secret: "logins", Hosts: []egov1.SSHHost{{Name: "db2", Address: "10.0.0.2"}, {Name: "db1", Address: "db1:2222"}}}
}

func TestAnApprovalOfMachinesIsBoundToTheirAddressesAndTheirSecret(t *testing.T) {
	before := Hash(fleetOf(ofMachines))
	for name, change := range map[string]activitytest.Option{
		"another address": func(a *egov1.Activity) { a.Spec.Hosts.SSH.Hosts[0].Address = "10.0.0.3" },
		"another Secret":  func(a *egov1.Activity) { a.Spec.Hosts.SSH.Secret = "others" },
		"one machine":     func(a *egov1.Activity) { a.Spec.Hosts.SSH.Hosts = a.Spec.Hosts.SSH.Hosts[:1] },
	} {
		if Hash(fleetOf(ofMachines, change)) == before {
			t.Errorf("%s: expected another hash, so that the approval is void", name)
		}
	}
}

func TestWhoApprovesIsAnotherUser(t *testing.T) {
	by := func(user, uid string) activitytest.Option {
		return func(a *egov1.Activity) {
			a.Spec.Requester = &egov1.Requester{Username: "ada", UID: "7"}
			a.Spec.Hosts.Approval = &egov1.Approval{Required: true}
			a.Spec.Hosts.Approval.ApprovedHash = Hash(a)
			if user != "" {
				a.Spec.Hosts.Approval.Approver = &egov1.Requester{Username: user, UID: uid}
			}
		}
	}
	for name, c := range map[string]struct {
		fleet *egov1.Activity
		words string
	}{
		"bob":                        {fleetOf(by("bob", "8")), ""},
		"ada herself":                {fleetOf(by("ada", "9")), "user ada requested this run, so another user must approve it"},
		"ada under another name":     {fleetOf(by("lovelace", "7")), "another user must approve it"},
		"an unknown user":            {fleetOf(by("", "")), "approver is empty"},
		"no one yet":                 {fleetOf(func(a *egov1.Activity) { a.Spec.Hosts.Approval = &egov1.Approval{Required: true} }), "kubectl patch activity upgrade -n chores"},
		"an approval of another run": {fleetOf(by("bob", ""), func(a *egov1.Activity) { a.Spec.Run = new(int64(2)) }), "the approval is for an earlier run or spec"},
		"no approval is needed":      {fleetOf(), ""},
	} {
		if got := Unapproved(c.fleet); !strings.Contains(got, c.words) || (c.words == "") != (got == "") {
			t.Errorf("%s: expected %q, got %q", name, c.words, got)
		}
	}
}
