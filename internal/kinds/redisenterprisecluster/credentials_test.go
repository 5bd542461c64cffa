// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestCredentialsThatNoServerTakesAreToldAndThoseBeforeGoOn(t *testing.T) {
	for want, change := range map[string]func(*scene){
		"":                      func(*scene) {},
		"has no username":       func(s *scene) { s.credentials.users.Data[usernameKey] = nil },
		"has no password":       func(s *scene) { s.credentials.users.Data[passwordKey] = []byte("\n") },
		"is \"opcrew\", who is": func(s *scene) { s.credentials.users.Data[usernameKey] = []byte("opcrew") },
		"has a blank":           func(s *scene) { s.credentials.users.Data[usernameKey] = []byte("a b") },
		"has 16385 characters":  func(s *scene) { s.credentials.users.Data[passwordKey] = []byte(strings.Repeat("a", 16385)) },
	} {
		s := running(3, with("clusterCredentialSecretName: own"))
		s.credentials.theirs = true
		change(s)
		got := s.credentials.problem(s.cluster)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("expected %q, got %q", want, got)
		}
		if accepted := s.accepted(s.cluster); want != "" && (len(accepted) != 1 || accepted[0] != hashOf("secret")) {
			t.Errorf("%s: expected the password of before to go on, got %d", want, len(accepted))
		}
	}
}

// A password that is made at random is another one with each look.
func TestAPasswordCountsOnceItStandsInTheSecretAndTheFirstOnceItIsDrawn(t *testing.T) {
	const stored, fresh, read = "secret", "fresh", "read"
	for name, test := range map[string]struct {
		change func(*scene)
		want   []string
	}{
		"it stands there":                        {func(*scene) {}, []string{stored}},
		"it was made, and is not accepted yet":   {func(s *scene) { s.credentials.users.Data[passwordKey] = []byte(read) }, []string{stored, read}},
		"the Secret is gone, or somebody else's": {func(s *scene) { s.credentials.users = nil }, []string{stored}},
		"the key is empty":                       {func(s *scene) { s.credentials.users.Data[passwordKey] = nil }, []string{stored}},
		"gone during a change": {func(s *scene) {
			s.password("", hashOf("old"), hashOf(stored))
			s.credentials.users, s.known.tunedSince = nil, noon.Add(-time.Hour)
		}, []string{"old", stored}},
		"there has never been one":             {func(s *scene) { s.credentials.users, s.credentials.own = nil, nil }, []string{fresh}},
		"nothing is accepted of what is there": {func(s *scene) { s.credentials.users, s.credentials.own.Data[acceptedKey] = nil, nil }, []string{fresh}},
		"an end between the two Secrets": {func(s *scene) {
			s.credentials.own, s.credentials.users.Data[passwordKey] = nil, []byte(read)
		}, []string{read}},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(3)
			s.credentials.fresh.users = fresh
			test.change(s)
			var want []string
			for _, password := range test.want {
				want = append(want, hashOf(password))
			}
			if got := s.accepted(s.cluster); !slices.Equal(got, want) {
				t.Errorf("expected the hashes of %q to be accepted, got %d of them: %q", test.want, len(got), got)
			}
		})
	}
}

// Nothing is to be looked at again every second for as long as no one knows which of two passwords is to go.
func TestThatAPasswordIsToGoIsWaitedForOnlyWhereAnotherStays(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*scene)
		again  time.Duration
	}{
		"it is counted down":       {func(*scene) {}, time.Second},
		"there is none that stays": {func(s *scene) { s.credentials.users = nil }, 0},
		"nobody takes the new one": {func(s *scene) { s.credentials.theirs, s.credentials.users.Data[usernameKey] = true, nil }, secretSoon},
	} {
		s := running(3)
		s.password("new", hashOf("old"), hashOf("new"))
		s.told()
		s.known.tunedSince = noon.Add(-time.Hour)
		test.change(s)
		if got := s.plan().Again; got != test.again {
			t.Errorf("%s: expected the next look after %s, got %s", name, test.again, got)
		}
	}
}

func TestWhoseTheUsersSecretIs(t *testing.T) {
	owner := func(uid types.UID) func(*corev1.Secret) {
		return func(s *corev1.Secret) {
			is := true
			s.OwnerReferences = []metav1.OwnerReference{{Kind: "ExternalSecret", UID: uid, Controller: &is}}
		}
	}
	labelled := func(s *corev1.Secret) { s.Labels = map[string]string{common.OwnerLabel: "u-1"} }
	const ours, theirs, nobodys = "ours", "theirs", "not to be used"
	for name, test := range map[string]struct {
		secret         func(*corev1.Secret)
		plain, spelled string // by its default name, and where the spec names it
	}{
		"made for this cluster":              {owner("u-1"), ours, ours},
		"made for it, without its reference": {labelled, ours, theirs},
		"nobody keeps it":                    {func(*corev1.Secret) {}, nobodys, theirs},
		"another controller keeps it":        {owner("u-2"), nobodys, theirs},
	} {
		for want, c := range map[string]*cluster{"plain " + test.plain: newCluster(), "spelled " + test.spelled: newCluster(with("clusterCredentialSecretName: example"))} {
			secret := &corev1.Secret{}
			secret.Namespace, secret.Name = c.Namespace, c.Name
			test.secret(secret)
			store := fake.NewClientBuilder().WithObjects(secret).Build()
			found, err := (&reconciler{Tools: &kit.Tools{Client: store, Live: store}}).observeCredentials(t.Context(), c)
			got := ours
			switch {
			case found.users == nil:
				got = nobodys
			case found.theirs:
				got = theirs
			}
			if err != nil || !strings.HasSuffix(want, " "+got) {
				t.Errorf("%s: expected %s, got %s, error %v", name, want, got, err)
			}
		}
	}
}

func TestTheSystemsPasswordIsReadAlsoWhereItsSecretLostItsOwnerReference(t *testing.T) {
	c, secret := newCluster(), &corev1.Secret{}
	secret.Namespace, secret.Name, secret.Labels = c.Namespace, systemSecret(c), map[string]string{common.OwnerLabel: "u-1"}
	secret.Data = map[string][]byte{passwordKey: []byte("inner")}
	store := fake.NewClientBuilder().WithObjects(secret).Build()
	found, err := (&reconciler{Tools: &kit.Tools{Client: store, Live: store}}).observeCredentials(t.Context(), c)
	if err != nil || found.system() != "inner" {
		t.Errorf("expected the password that servers know, got %q, error %v", found.system(), err)
	}
}

func TestAPasswordThatIsMadeAnewIsToldWhenItIsMade(t *testing.T) {
	secret := func(name string, action ensure.Action) ensure.Result {
		ref := ensure.Ref{ObjectKey: types.NamespacedName{Namespace: "shop", Name: name}}
		ref.Kind = "Secret"
		return ensure.Result{Ref: ref, Action: action}
	}
	gone := func(s *scene) { s.credentials.users = nil }
	for name, test := range map[string]struct {
		change func(*scene)
		result ensure.Result
		told   bool
	}{
		"it is there":                     {func(*scene) {}, secret("example", ensure.Applied), false},
		"the key is empty":                {func(s *scene) { s.credentials.users.Data[passwordKey] = nil }, secret("example", ensure.Applied), true},
		"the Secret is gone":              {gone, secret("example", ensure.Created), true},
		"its name is taken":               {gone, secret("example", ensure.Taken), false},
		"it is refused":                   {gone, secret("example", ""), false},
		"it is held back by a pause":      {gone, secret("example", ensure.Held), false},
		"another Secret is made":          {gone, secret("example-system", ensure.Created), false},
		"there has never been one":        {func(s *scene) { s.credentials.users, s.credentials.own = nil, nil }, secret("example", ensure.Created), false},
		"it is for the user to put it in": {func(s *scene) { s.credentials.theirs, s.credentials.users.Data[passwordKey] = true, nil }, secret("example-system", ensure.Applied), false},
	} {
		s, recorder := running(3), clientevents.NewFakeRecorder(1)
		test.change(s)
		(&reconciler{Tools: &kit.Tools{Events: recorder}}).tellPassword(s.cluster, s.facts, kit.Outcome{Results: []ensure.Result{test.result}})
		var told bool
		select {
		case event := <-recorder.Events:
			told = strings.HasPrefix(event, "Warning PasswordMade Secret example had no password")
		default:
		}
		if told != test.told {
			t.Errorf("%s: expected a warning to be given: %t", name, test.told)
		}
	}
}
