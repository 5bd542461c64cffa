// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"slices"
	"strings"
	"testing"
)

// defence is a part of opcrew that stops an attack.
type defence string

const (
	schema      defence = "schema: the CRD refuses it"
	rbac        defence = "rbac: the roles for users do not allow it"
	policies    defence = "activity: opcrew-activity-rights refuses it"
	machines    defence = "machines: opcrew-nodepool-rights refuses it, also before MachineConfig is installed"
	ownership   defence = "ownership: opcrew leaves objects of others alone"
	imageCheck  defence = "image: an invalid image reaches no pod"
	clientKeys  defence = "diva keys: clients mount no key that logs in"
	podSecurity defence = "pod security: finished pods are checked"
	requester   defence = "requester: who asked may use what the pod uses"
	answers     defence = "answers: answers of stores are bounded"
	network     defence = "network: ports are closed, and Ready says what is not protected"
	hashCost    defence = "hash cost: costly hashes are not compared"
	podPolicies defence = "pod policies: policies of an administrator on pods apply to opcrew's pods"
	cleanup     defence = "cleanup: what an object leaves behind is removed without its finalizer"
	nesting     defence = "nesting: opcrew-nesting refuses values that no list can contain"
	cacheSize   defence = "cache size: annotations that opcrew does not read are not cached"
	noToken     defence = "token: no pod gets the token of the default ServiceAccount"
	installed   defence = "install: images by digest, rights without wildcards"
)

// attack is an attempt of a tenant to do harm.
type attack struct {
	name string
	// source is the origin of the attack: a number of the OWASP Kubernetes Top Ten (2022), the CVE of a comparable
	// product, or a security review of opcrew. item is the attack's number in the list of that review; 0 for none.
	source string
	item   int
	// needs is the defence that stops the attack.
	needs defence
	// before creates objects of other users as an administrator, if it is set.
	before func(w *world)
	// manifest is the object that the tenant creates. If act is set, the tenant sends this request instead.
	manifest string
	act      func(w *world) error
	// refused lists words in the message with which the API server must refuse the attack. It is empty if the server
	// accepts the request.
	refused []string
	// stops is what the condition Ready must report if the API server accepts the request.
	stops *report
	// harm describes the harm that the attack has done, or returns "" for none. If harm is nil, an accepted request is
	// itself harm.
	harm func(w *world) string
	// pods is set if the attack must result in harmless pods, so that Ready need not be False.
	pods bool
	// control does the harm as an administrator. It is set if the defence cannot be switched off.
	control func(w *world)
}

// report is what the condition Ready with status False must contain.
type report struct {
	// reason is the reason of Ready. If it is empty, any reason is accepted.
	reason string
	words  []string
}

// attacks returns the attacks of all groups.
func attacks() []attack {
	return slices.Concat(podAttacks(), sideContainerAttacks(), requesterAttacks(), secretAttacks(), claimAttacks(), borrowAttacks(), referenceAttacks(), machineAttacks(), ownerAttacks(),
		finalizerAttacks(), placementAttacks(), injectionAttacks(), floodAttacks(), bombAttacks(), tenantAttacks(), storeAttacks())
}

func TestTheTableCoversEveryItemOfTheReviewAndMoreThanTwentyOthers(t *testing.T) {
	items, others, names := map[int]bool{}, 0, map[string]bool{}
	for _, a := range attacks() {
		items[a.item] = true
		if a.item == 0 {
			others++
		}
		if names[a.name] {
			t.Errorf("two attacks are named %q", a.name)
		}
		names[a.name] = true
		if a.source == "" || a.needs == "" || a.manifest == "" == (a.act == nil) || len(a.refused) == 0 && a.stops == nil && a.harm == nil {
			t.Errorf("%s: an attack needs a source, a defence, a manifest or a request, and an expected result", a.name)
		}
	}
	for _, a := range installAttacks() {
		items[a.item] = true
	}
	for _, a := range slices.Concat(serverAttacks(), hashAttacks()) {
		items[a.item] = true
	}
	for item := 1; item <= 9; item++ {
		if !items[item] {
			t.Errorf("no attack covers item %d of the review", item)
		}
	}
	if others < 20 {
		t.Errorf("expected at least 20 attacks beside the review's, got %d", others)
	}
}

// missing returns the first of the words that text does not contain, or "".
func missing(text string, words []string) string {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return word
		}
	}
	return ""
}
