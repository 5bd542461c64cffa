// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func needsApproval(h *egov1.Hosts) { h.Approval = &egov1.Approval{Required: true} }

// approver returns a right of a namespace that lets a user change and approve Activities.
func approver() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{"activities"}, Verbs: []string{"get", "patch", "approve"}}
}

// approve returns an action with which a user approves a fleet.
func (s *site) approve(who, name, hash string) func() error {
	return func() error {
		return s.as(who).Patch(s.Context(), s.declared(name, ""), client.RawPatch("application/merge-patch+json",
			[]byte(`{"spec":{"hosts":{"approval":{"approvedHash":"`+hash+`"}}}}`)))
	}
}

// newApproval returns a site with a fleet of ada that waits for an approval, and its hash.
func newApproval(t *testing.T) (s *site, hash string) {
	t.Helper()
	s = newSite(t)
	s.grant("ada", rule("activities", "*"), rule("hosts", "run"), rule("hostusers", "run-as"))
	s.grant("editor", rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{"activities"}, Verbs: []string{"get", "patch", "create"}})
	s.try("ada makes one", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("upgrade", "true", onHosts(s.hosts, needsApproval)))
	})
	a := s.await("upgrade", egov1.StatePending, "the run needs the approval of a second user: kubectl patch activity upgrade -n "+s.ns)
	return s, a.Status.SpecHash
}

func TestAFleetStartsWhenASecondUserApprovesIt(t *testing.T) {
	s, hash := newApproval(t)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.try("ada approves her own run", "ada asked for this run, so another user must approve it", s.approve("ada", "upgrade", hash))
	s.try("the editor approves", "editor may not approve Activity upgrade", s.approve("editor", "upgrade", hash))
	s.grant("bob", approver())
	s.try("bob approves another run", "", s.approve("bob", "upgrade", strings.Repeat("0", 32)))
	s.await("upgrade", egov1.StatePending, "the approval is for an earlier run or spec")
	s.try("bob approves", "", s.approve("bob", "upgrade", hash))
	a := s.await("upgrade", egov1.StateSucceeded)
	approved := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityApproved)
	if approved == nil || approved.Message != "user bob approved the run" || a.Spec.Hosts.Approval.Approver.Username != "bob" {
		t.Errorf("expected bob as the approver, got %+v and %+v", approved, a.Spec.Hosts.Approval)
	}
}

func TestAnApprovalIsForOneRunOnly(t *testing.T) {
	s, hash := newApproval(t)
	s.grant("bob", approver())
	s.try("bob approves", "", s.approve("bob", "upgrade", hash))
	s.await("upgrade", egov1.StateSucceeded)
	again := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"run":2,"hosts":{"rerun":"All"}}}`))
	s.try("ada runs it again", "", func() error { return s.as("ada").Patch(t.Context(), s.declared("upgrade", ""), again) })
	s.await("upgrade", egov1.StatePending, "the approval is for an earlier run or spec")
}

// The user who asks for a run must not smuggle in an approval: not in a new object, not together with a run, and not
// under the name of another user.
func TestNoOneApprovesInAnothersName(t *testing.T) {
	s, hash := newApproval(t)
	s.grant("bob", approver())
	forged := s.declared("forged", "true", onHosts(s.hosts, needsApproval))
	forged.Spec.Hosts.Approval.ApprovedHash, forged.Spec.Hosts.Approval.Approver = hash, &egov1.Requester{Username: "bob"}
	s.try("ada creates an approved one", "the user who asks for a run cannot approve it", func() error {
		return s.as("ada").Create(t.Context(), forged.DeepCopy())
	})
	s.try("bob approves", "", s.approve("bob", "upgrade", hash))
	s.await("upgrade", egov1.StateSucceeded)
	patch := func(who, text string) func() error {
		return func() error {
			return s.as(who).Patch(t.Context(), s.declared("upgrade", ""), client.RawPatch("application/merge-patch+json", []byte(text)))
		}
	}
	s.try("ada asks and approves at once", "the user who asks for a run cannot approve it",
		patch("ada", `{"spec":{"run":2,"hosts":{"approval":{"approvedHash":"`+strings.Repeat("1", 32)+`"}}}}`))
	s.try("ada writes another approver", "spec.hosts.approval.approver: leave it out",
		patch("ada", `{"spec":{"hosts":{"approval":{"approver":{"username":"carol"}}}}}`))
	s.try("bob withdraws and ada approves", "", patch("bob", `{"spec":{"hosts":{"approval":{"approvedHash":null,"approver":null}}}}`))
	s.try("ada forges", "ada asked for this run, so another user must approve it",
		patch("ada", `{"spec":{"hosts":{"approval":{"approvedHash":"`+hash+`","approver":{"username":"bob"}}}}}`))
}

// The role of approvers has the verb patch, with which they could otherwise cancel commands and remove their records.
func TestAnApproverChangesOnlyTheApproval(t *testing.T) {
	s, hash := newApproval(t)
	s.grant("bob", approver())
	for _, patch := range []string{
		`{"spec":{"cancel":true}}`, `{"spec":{"ttlSecondsAfterFinished":0}}`, `{"metadata":{"finalizers":["example.com/hold"]}}`,
		`{"metadata":{"labels":{"opcrew.io/fleet":"upgrade"}}}`, `{"metadata":{"annotations":{"a":"b"}}}`,
	} {
		s.try("bob writes "+patch, "may change only the approval", func() error {
			return s.as("bob").Patch(t.Context(), s.declared("upgrade", ""), client.RawPatch("application/merge-patch+json", []byte(patch)))
		})
	}
	s.try("bob approves", "", s.approve("bob", "upgrade", hash))
	s.await("upgrade", egov1.StateSucceeded)
}

// opcrew checks the right to approve again when hosts start, because it may have been revoked since.
func TestAnApproverWithoutTheRightAnyMoreStartsNothing(t *testing.T) {
	s, hash := newApproval(t)
	revoke := s.grant("bob", rule("activities", "*"))
	s.operator.Stop()
	s.try("bob approves", "", s.approve("bob", "upgrade", hash))
	revoke()
	s.try("bob has no right any more", "cannot patch", s.approve("bob", "upgrade", hash))
	s.operator.Start()
	s.await("upgrade", egov1.StatePending, "user bob, who approved the run, no longer has the right to approve")
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: fleet.ChildName("upgrade", 1, s.hosts[0])}, &egov1.Activity{}); err == nil {
		t.Error("expected no host to start")
	}
}

// Without the right to a host, the run on this host is refused and counts as a failure.
func TestARequesterOfAFleetNeedsTheRightToEachHost(t *testing.T) {
	s := newSite(t)
	s.grant("ada", rule("activities", "*"), rule("hosts", "run", s.hosts[0]), rule("hostusers", "run-as"))
	s.try("ada makes one", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("upgrade", "true", onHosts(s.hosts)))
	})
	a := s.await("upgrade", egov1.StateFailed, "did not succeed on 1 of 2 hosts")
	if g := a.Status.Fleet.Groups; len(g) != 2 || g[1].State != egov1.StateRefused || !strings.Contains(g[1].Message, "has no right to run") {
		t.Errorf("expected a refused host, got %+v", g)
	}
	s.grant("eve", rule("activities", "*"))
	s.try("eve may run as no user", "eve may not run commands as user root", func() error {
		return s.as("eve").Create(s.Context(), s.declared("other", "true", onHosts(s.hosts)))
	})
}

// Another user creates an Activity with the name, label and owner of the next host's Activity. The requester differs, so
// that it does not run in the name of the fleet's requester, and does not count as a success.
func TestAForgedActivityOfAHostDoesNotRun(t *testing.T) {
	s, hash := newApproval(t)
	owner := s.get("upgrade")
	s.grant("eve", rule("activities", "*"), rule("hosts", "run"), rule("hostusers", "run-as"), approver())
	s.try("eve forges the Activity of a host", "", func() error {
		forged := s.declared(fleet.ChildName("upgrade", 1, s.hosts[0]), "touch /tmp/eve")
		forged.Labels = map[string]string{"opcrew.io/owner": string(owner.UID), "app.kubernetes.io/managed-by": "opcrew"}
		forged.OwnerReferences = append(forged.OwnerReferences, *metav1.NewControllerRef(owner, egov1.GroupVersion.WithKind("Activity")))
		return s.as("eve").Create(t.Context(), forged)
	})
	s.await(fleet.ChildName("upgrade", 1, s.hosts[0]), egov1.StateRefused, "the requester of this run is not the requester of Activity upgrade")
	s.try("eve approves", "", s.approve("eve", "upgrade", hash))
	operator.Until(t, "the fleet reports the failure", func() error {
		if a := s.get("upgrade"); a.Status.Prosta != egov1.StateFailed || a.Status.Fleet.Succeeded != 0 {
			return fmt.Errorf("it is %s: %+v", a.Status.Prosta, a.Status.Fleet)
		}
		return nil
	})
}
