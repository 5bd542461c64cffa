// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clientevents "k8s.io/client-go/tools/events"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestCredentialsThatNoServerTakesAreReportedAndThoseBeforeGoOn(t *testing.T) {
	for want, change := range map[string]func(*scene){
		"":                        func(*scene) {},
		"has no username":         func(s *scene) { s.credentials.Users.Data["username"] = nil },
		"has no password":         func(s *scene) { s.credentials.Users.Data["password"] = []byte("\n") },
		"is \"opcrew\", which is": func(s *scene) { s.credentials.Users.Data["username"] = []byte("opcrew") },
		"contains a space":        func(s *scene) { s.credentials.Users.Data["username"] = []byte("a b") },
		"has 16385 characters":    func(s *scene) { s.credentials.Users.Data["password"] = []byte(strings.Repeat("a", 16385)) },
	} {
		s := running(3, clustertest.With("clusterCredentialSecretName: own"))
		s.credentials.External = true
		change(s)
		got := s.credentials.Problem(s.Cluster)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("expected %q, got %q", want, got)
		}
		if accepted := s.accepted(); want != "" && (len(accepted) != 1 || accepted[0] != desired.Hash("secret")) {
			t.Errorf("%s: expected the previous password to go on, got %d", want, len(accepted))
		}
	}
}

// A generated password becomes valid when it is stored in the Secret, because each reconcile generates a different one.
// The first password of a cluster is valid at once, because servers cannot start without a password.
func TestAPasswordCountsOnceItStandsInTheSecretAndTheFirstOnceItIsDrawn(t *testing.T) {
	const stored, fresh, read = "secret", "fresh", "read"
	for name, test := range map[string]struct {
		change func(*scene)
		want   []string
	}{
		"it stands there":                          {func(*scene) {}, []string{stored}},
		"it was made, and is not accepted yet":     {func(s *scene) { s.credentials.Users.Data["password"] = []byte(read) }, []string{stored, read}},
		"the Secret is gone, or has another owner": {func(s *scene) { s.credentials.Users = nil }, []string{stored}},
		"the key is empty":                         {func(s *scene) { s.credentials.Users.Data["password"] = nil }, []string{stored}},
		"gone during a change": {func(s *scene) {
			s.password("", desired.Hash("old"), desired.Hash(stored))
			s.credentials.Users, s.known.TunedSince = nil, clustertest.Noon.Add(-time.Hour)
		}, []string{"old", stored}},
		"there has never been one":             {func(s *scene) { s.credentials.Users, s.credentials.System = nil, nil }, []string{fresh}},
		"nothing is accepted of what is there": {func(s *scene) { s.credentials.Users, s.credentials.System.Data["accepted"] = nil, nil }, []string{fresh}},
		"an end between the two Secrets": {func(s *scene) {
			s.credentials.System, s.credentials.Users.Data["password"] = nil, []byte(read)
		}, []string{read}},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(3)
			s.credentials.Generated.Users = fresh
			test.change(s)
			var want []string
			for _, password := range test.want {
				want = append(want, desired.Hash(password))
			}
			if got := s.accepted(); !slices.Equal(got, want) {
				t.Errorf("expected the hashes of %q to be accepted, got %d of them: %q", test.want, len(got), got)
			}
		})
	}
}

// An old password expires only if a newer password stays valid. If there is no newer password, the operator must not
// reconcile every second to wait for the end of the old one.
func TestThatAPasswordIsToGoIsWaitedForOnlyWhereAnotherStays(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*scene)
		again  time.Duration
	}{
		"it is counted down":            {func(*scene) {}, time.Second},
		"there is none that stays":      {func(s *scene) { s.credentials.Users = nil }, 0},
		"no server accepts the new one": {func(s *scene) { s.credentials.External, s.credentials.Users.Data["username"] = true, nil }, badSecretInterval},
	} {
		s := running(3)
		s.password("new", desired.Hash("old"), desired.Hash("new"))
		s.tuned()
		s.known.TunedSince = clustertest.Noon.Add(-time.Hour)
		test.change(s)
		if got := s.plan().Again; got != test.again {
			t.Errorf("%s: expected the next look after %s, got %s", name, test.again, got)
		}
	}
}

func TestAPasswordThatIsCreatedAgainIsReportedWhenItIsMade(t *testing.T) {
	secret := func(name string, action ensure.Action) ensure.Result {
		ref := ensure.Ref{ObjectKey: types.NamespacedName{Namespace: "shop", Name: name}}
		ref.Kind = "Secret"
		return ensure.Result{Ref: ref, Action: action}
	}
	gone := func(s *scene) { s.credentials.Users = nil }
	for name, test := range map[string]struct {
		change   func(*scene)
		result   ensure.Result
		reported bool
	}{
		"it is there":                     {func(*scene) {}, secret("example", ensure.Applied), false},
		"the key is empty":                {func(s *scene) { s.credentials.Users.Data["password"] = nil }, secret("example", ensure.Applied), true},
		"the Secret is gone":              {gone, secret("example", ensure.Created), true},
		"its name is taken":               {gone, secret("example", ensure.Taken), false},
		"it is refused":                   {gone, secret("example", ""), false},
		"it is held back by a pause":      {gone, secret("example", ensure.Held), false},
		"another Secret is made":          {gone, secret("example-system", ensure.Created), false},
		"there has never been one":        {func(s *scene) { s.credentials.Users, s.credentials.System = nil, nil }, secret("example", ensure.Created), false},
		"it is for the user to put it in": {func(s *scene) { s.credentials.External, s.credentials.Users.Data["password"] = true, nil }, secret("example-system", ensure.Applied), false},
	} {
		s, recorder := running(3), clientevents.NewFakeRecorder(1)
		test.change(s)
		(&reconciler{Tools: &kit.Tools{Events: recorder}}).reportPassword(s.Cluster, s.credentials, kit.Outcome{Results: []ensure.Result{test.result}})
		var reported bool
		select {
		case event := <-recorder.Events:
			reported = strings.HasPrefix(event, "Warning PasswordMade Secret example had no password")
		default:
		}
		if reported != test.reported {
			t.Errorf("%s: expected a warning to be given: %t", name, test.reported)
		}
	}
}
