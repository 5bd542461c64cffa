// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"strings"
	"testing"
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

func TestAPasswordThatIsMadeAnewIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*scene)
		told   bool
	}{
		"it is there":                  {func(*scene) {}, false},
		"the key is empty":             {func(s *scene) { s.credentials.users.Data[passwordKey] = nil }, true},
		"the Secret is gone":           {func(s *scene) { s.credentials.users = nil }, true},
		"there has never been one":     {func(s *scene) { s.credentials.users, s.credentials.own = nil, nil }, false},
		"it is for the user to put it": {func(s *scene) { s.credentials.theirs, s.credentials.users.Data[passwordKey] = true, nil }, false},
	} {
		s := running(3)
		s.credentials.fresh.users = "fresh"
		test.change(s)
		var told bool
		for _, event := range s.plan().Events {
			told = told || event.Reason == "PasswordMade" && event.Warning
		}
		if told != test.told {
			t.Errorf("%s: expected a warning to be given: %t", name, test.told)
		}
	}
}
