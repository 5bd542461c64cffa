// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// name is that of a test's key, or none.
func name(t testing.TB, public string) string {
	for _, known := range []string{"old", "new", "fresh", "host", "fresh-host", "given"} {
		if public == key(t, known).public {
			return known
		}
	}
	return "none"
}

// text says what a ring holds.
func text(t testing.TB, r *ring) string {
	if r == nil {
		return "nothing"
	}
	next := "none"
	if r.next != nil {
		next = name(t, r.next.public)
	}
	return fmt.Sprintf("%s: current %s, next %s, previous %s, identity %t, host %s, former %s",
		r.phase(), name(t, r.current.public), next, name(t, r.previous), r.identity, name(t, r.host.public), name(t, strings.Join(r.formerHosts, " and ")))
}

func authorizing(t testing.TB) *ring {
	r := settled(t)
	r.next = key(t, "new")
	return r
}

func switching(t testing.TB) *ring {
	r := settled(t)
	r.current, r.previous, r.former = key(t, "new"), key(t, "old").public, key(t, "old")
	return r
}

// isLost is a ring recreated while pods run with old keys.
func isLost(t testing.TB) *ring {
	r := settled(t)
	r.current, r.previous, r.identity = key(t, "fresh"), key(t, "old").public, false
	r.host, r.formerHosts = key(t, "fresh-host"), []string{key(t, "host").public}
	return r
}

func TestTheKeyInUseInAnotherFormIsWrittenAndNoChangeOfThePair(t *testing.T) {
	d, r := newDiva(1), settled(t)
	other := &pair{private: []byte("the same key, written otherwise"), public: r.current.public}
	got, _ := decideRing(d, observed(t, d, r, gives(given{pair: other})), noon)
	same(t, "phase", opsv1.SSHInUse, got.phase())
	same(t, "private key", string(other.private), string(got.current.private))
}

func TestTheRingGoesOneStepAtATimeAndOnlyWhenAllPodsHaveFollowed(t *testing.T) {
	const inUse = "InUse: current old, next none, previous none, identity true, host host, former none"
	old := settled(t)
	mine := given{pair: key(t, "given")}
	wrong := given{wrong: &obstacle{opsv1.ReasonKeyUnusable, "x"}}
	behind := func(d *opsv1.Diva, role string) factOption { return serves(d, old, role) }
	for what, test := range map[string]struct {
		diva    *opsv1.Diva
		ring    *ring
		options func(d *opsv1.Diva) []factOption
		want    string
	}{
		"nothing asks for a change":        {newDiva(2), old, nil, inUse},
		"the annotation was seen before":   {newDiva(2, withRequest("1")), requested(old, "1"), nil, inUse},
		"the annotation is taken away":     {newDiva(2), requested(old, "1"), nil, inUse},
		"the annotation is another":        {newDiva(2, withRequest("2")), requested(old, "1"), nil, "Authorizing: current old, next fresh, previous none, identity true, host host, former none"},
		"the pair is young":                {newDiva(2, withAge("2h")), old, nil, inUse},
		"the pair is old":                  {newDiva(2, withAge("1h")), old, nil, "Authorizing: current old, next fresh, previous none, identity true, host host, former none"},
		"the user gives the same":          {newDiva(2), old, with(gives(given{pair: key(t, "old")})), inUse},
		"the user gives another":           {newDiva(2), old, with(gives(mine)), "Authorizing: current old, next given, previous none, identity true, host host, former none"},
		"the user gives one of no use":     {newDiva(2, withRequest("2"), withAge("1h")), old, with(gives(wrong)), inUse},
		"clients are behind":               {newDiva(2), authorizing(t), func(d *opsv1.Diva) []factOption { return []factOption{behind(d, "client")} }, "Authorizing: current old, next new, previous none, identity true, host host, former none"},
		"one client does not answer":       {newDiva(2), authorizing(t), with(silent("ops-client-1")), "Authorizing: current old, next new, previous none, identity true, host host, former none"},
		"one client is not placed yet":     {newDiva(2), authorizing(t), with(silent("ops-client-1"), unplaced("ops-client-1")), "Switching: current new, next none, previous old, identity true, host host, former none"},
		"one client is going":              {newDiva(2), authorizing(t), with(silent("ops-client-1"), going("ops-client-1")), "Switching: current new, next none, previous old, identity true, host host, former none"},
		"clients have followed":            {newDiva(2), authorizing(t), nil, "Switching: current new, next none, previous old, identity true, host host, former none"},
		"another is given on the way":      {newDiva(2), authorizing(t), with(gives(mine)), "Authorizing: current old, next given, previous none, identity true, host host, former none"},
		"the one in use is given again":    {newDiva(2), authorizing(t), with(gives(given{pair: key(t, "old")})), inUse},
		"the manager is behind":            {newDiva(2), switching(t), func(d *opsv1.Diva) []factOption { return []factOption{behind(d, "manager")} }, "Switching: current new, next none, previous old, identity true, host host, former none"},
		"the manager has followed":         {newDiva(2), switching(t), nil, "InUse: current new, next none, previous none, identity true, host host, former none"},
		"another is given while it does":   {newDiva(2), switching(t), with(gives(mine), func(f *facts) { f.serving["uid-of-ops-manager-0"] = "" }), "Switching: current new, next none, previous old, identity true, host host, former none"},
		"after a loss, clients are behind": {newDiva(2), isLost(t), func(d *opsv1.Diva) []factOption { return []factOption{behind(d, "client")} }, "Authorizing: current fresh, next none, previous old, identity false, host fresh-host, former host"},
		"after a loss, clients follow":     {newDiva(2), isLost(t), nil, "Switching: current fresh, next none, previous old, identity true, host fresh-host, former host"},
	} {
		t.Run(what, func(t *testing.T) {
			options := []factOption(nil)
			if test.options != nil {
				options = test.options(test.diva)
			}
			before := *test.ring
			got, _ := decideRing(test.diva, observed(t, test.diva, test.ring, options...), noon)
			same(t, "the ring", test.want, text(t, got))
			if !reflect.DeepEqual(*test.ring, before) {
				t.Error("the ring that was read is changed: a step that is not written would be taken for done")
			}
		})
	}
}

func requested(r *ring, request string) *ring {
	out := *r
	out.request = request
	return &out
}

func with(options ...factOption) func(*opsv1.Diva) []factOption {
	return func(*opsv1.Diva) []factOption { return options }
}

func silent(pod string) factOption { return func(f *facts) { delete(f.serving, "uid-of-"+pod) } }

func unplaced(pod string) factOption {
	return func(f *facts) { f.clients.Pods[pod].Spec.NodeName = "" }
}

func going(pod string) factOption {
	return func(f *facts) { f.clients.Pods[pod].DeletionTimestamp = &metav1.Time{Time: noon} }
}

func TestWhereThereIsNoSecretOneIsMadeThatLocksNobodyOut(t *testing.T) {
	old := settled(t)
	wrong := given{wrong: &obstacle{opsv1.ReasonKeyUnusable, "x"}}
	for what, test := range map[string]struct {
		diva    *opsv1.Diva
		options []factOption
		want    string
	}{
		"a new object":                        {newDiva(2), []factOption{nothingRuns}, "InUse: current fresh, next none, previous none, identity true, host fresh-host, former none"},
		"with a key of the user":              {newDiva(2), []factOption{nothingRuns, gives(given{pair: key(t, "given")})}, "InUse: current given, next none, previous none, identity true, host fresh-host, former none"},
		"with one of no use":                  {newDiva(2), []factOption{nothingRuns, gives(wrong)}, "nothing"},
		"told before, and nothing runs":       {newDiva(2, withStatus(opsv1.SSHInUse, old)), []factOption{nothingRuns}, "InUse: current fresh, next none, previous none, identity true, host fresh-host, former none"},
		"told before, and pods run":           {newDiva(2, withStatus(opsv1.SSHInUse, old)), nil, "Authorizing: current fresh, next none, previous old, identity false, host fresh-host, former host"},
		"told before, and the user has it":    {newDiva(2, withStatus(opsv1.SSHInUse, old)), []factOption{gives(given{pair: key(t, "old")})}, "InUse: current old, next none, previous none, identity true, host fresh-host, former host"},
		"told before, the user's of no use":   {newDiva(2, withStatus(opsv1.SSHInUse, old)), []factOption{gives(wrong)}, "Authorizing: current fresh, next none, previous old, identity false, host fresh-host, former host"},
		"pods of a Diva that told of no keys": {newDiva(2), nil, "InUse: current fresh, next none, previous none, identity true, host fresh-host, former none"},
	} {
		t.Run(what, func(t *testing.T) {
			got, _ := decideRing(test.diva, observed(t, test.diva, nil, append(test.options, noSecret)...), noon)
			same(t, "the ring", test.want, text(t, got))
		})
	}
}

// A crash can come between any two writes: all that a step rests on is in the Secret.
func TestWhatTheSecretHoldsIsReadBackAsItWas(t *testing.T) {
	d := newDiva(2)
	for what, r := range map[string]*ring{"in use": settled(t), "authorizing": authorizing(t), "switching": switching(t), "lost": isLost(t), "asked for": requested(settled(t), "1")} {
		t.Run(what, func(t *testing.T) {
			got := parseRing(stored(r.secret(d, nil)))
			same(t, "the ring", text(t, r), text(t, got))
			if (got.former == nil) != (r.former == nil) {
				t.Error("expected the pair before it to be read back, too")
			}
			if got.request != r.request || !got.made.Equal(r.made) {
				t.Errorf("expected it to be made at %s for %q, got %s for %q", r.made, r.request, got.made, got.request)
			}
		})
	}
}

// stored is a Secret as the API server gives it back.
func stored(ac *corev1ac.SecretApplyConfiguration) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: ac.Annotations}, Data: ac.Data}
}

func TestASecretWithoutItsPrivateKeysIsNone(t *testing.T) {
	secret := stored(settled(t).secret(newDiva(1), nil))
	for _, lost := range []string{privateKey, identityKey, nextIdentityKey} {
		secret.Data[lost] = []byte("somebody's mistake")
	}
	if got := parseRing(secret); got != nil {
		t.Errorf("expected nothing, got %s", text(t, got))
	}
	if parseRing(nil) != nil {
		t.Error("expected no ring of no Secret")
	}
}

// What no client lets in must not become the manager's key at once.
func TestAPrivateKeyThatIsEditedByHandIsPutBack(t *testing.T) {
	for _, r := range []*ring{settled(t), authorizing(t), switching(t)} {
		for _, edited := range []string{privateKey, identityKey, nextIdentityKey} {
			for what, by := range map[string][]byte{"another key": key(t, "given").private, "no key": []byte("x"), "nothing": nil} {
				if r.phase() == opsv1.SSHSwitching && edited == nextIdentityKey || edited == nextIdentityKey && by == nil {
					continue // there are no two left to tell it by
				}
				secret := stored(r.secret(newDiva(1), nil))
				secret.Data[edited] = by
				got := parseRing(secret)
				if got == nil || got.current.public != r.current.public || got.phase() != r.phase() {
					t.Errorf("%s, %s is %s: expected the key to stay, got %s", r.phase(), edited, what, text(t, got))
				}
			}
		}
	}
}

func TestAHostKeyThatIsLostAloneIsMadeAnewAlone(t *testing.T) {
	for _, d := range []*opsv1.Diva{newDiva(1, withStatus(opsv1.SSHInUse, settled(t))), newDiva(1, withStatus(opsv1.SSHInUse, settled(t)), withRequest("2"))} {
		secret := stored(settled(t).secret(d, nil))
		delete(secret.Data, hostKey)
		r := parseRing(secret)
		f := observed(t, d, r)
		got, _ := decideRing(d, f, noon)
		same(t, "the ring", "InUse: current old, next none, previous none, identity true, host fresh-host, former host", text(t, got))
		same(t, "the host key until that is written", key(t, "host").public, sshStatus(d, f, r).HostKey)
	}
}

func TestAPairThatIsLostAloneTakesTheHostKeyWithItNot(t *testing.T) {
	d := newDiva(1, withStatus(opsv1.SSHInUse, settled(t)))
	f := observed(t, d, nil)
	f.secret = stored(settled(t).secret(d, nil))
	got, _ := decideRing(d, f, noon)
	same(t, "the ring", "Authorizing: current fresh, next none, previous old, identity false, host host, former none", text(t, got))
}

func TestTheManagerKnowsClientsByAFewFormerHostKeys(t *testing.T) {
	d := newDiva(1, withStatus(opsv1.SSHInUse, settled(t)))
	d.Status.SSH.FormerHostKeys = []string{key(t, "new").public, key(t, "old").public, key(t, "given").public}
	got, _ := decideRing(d, observed(t, d, nil, noSecret), noon)
	want := []string{key(t, "host").public, key(t, "new").public, key(t, "old").public}
	same(t, "former host keys", want, got.formerHosts)
	same(t, "as they are told", want, sshStatus(d, observed(t, d, got), got).FormerHostKeys)
	same(t, "as they are read back", want, parseRing(stored(got.secret(d, nil))).formerHosts)
}

// Between authorizing and switching clients need not follow: they let in the same keys.
func TestTheSwitchChangesNothingAtTheClients(t *testing.T) {
	d := newDiva(2)
	same(t, "what clients serve", wantedDigests(d, authorizing(t))["client"], wantedDigests(d, switching(t))["client"])
}

// ssh reads a key twice for one login and gives up one that was changed between.
func TestOfTheManagersTwoKeysOneStaysAtEveryStep(t *testing.T) {
	d, after := newDiva(1), settled(t)
	after.current = key(t, "new")
	steps := []*ring{settled(t), authorizing(t), switching(t), after}
	for i := range steps[1:] {
		was, is := steps[i].managerFiles(d), steps[i+1].managerFiles(d)
		changed := 0
		for _, file := range []string{"identity", "identity-next"} {
			if !slices.Equal(was[file], is[file]) {
				changed++
			}
		}
		if changed > 1 {
			t.Errorf("from %s to %s both keys change", steps[i].phase(), steps[i+1].phase())
		}
		for _, file := range []string{"identity", "identity-next"} {
			p, _ := parsePair(string(is[file]))
			if slices.Equal(was[file], is[file]) && !strings.Contains(steps[i].authorized(nil), p.public) && !strings.Contains(steps[i+1].authorized(nil), p.public) {
				t.Errorf("from %s to %s the key that stays is let in by nobody", steps[i].phase(), steps[i+1].phase())
			}
		}
	}
}

func TestAManagerHasBothItsFilesFromItsStart(t *testing.T) {
	for what, r := range map[string]*ring{"in use": settled(t), "authorizing": authorizing(t), "switching": switching(t)} {
		files := r.managerFiles(newDiva(1))
		if len(files["identity"]) == 0 || len(files["identity-next"]) == 0 {
			t.Errorf("%s: a file that is not there is mounted as a directory", what)
		}
	}
	after := isLost(t)
	after.identity = true
	if files := after.managerFiles(newDiva(1)); len(files["identity"]) == 0 || len(files["identity-next"]) == 0 {
		t.Error("after a loss: a file that is not there is mounted as a directory")
	}
}

func TestTheManagerKnowsClientsByEveryNameThatTheyHaveInTheCluster(t *testing.T) {
	d := newDiva(1)
	same(t, "known_hosts", "*.ops-client.shop.svc,*.ops-client.shop.svc.*,*.ops-client.shop,*.ops-client,ops-client-* "+key(t, "host").public+"\n", settled(t).known(d))
	d.Spec.SSH = &opsv1.SSH{Port: new(int32(2222))}
	says(t, settled(t).known(d), "[*.ops-client.shop.svc]:2222,", "[ops-client-*]:2222 ")
	if lines := strings.Count(isLost(t).known(d), "\n"); lines != 2 {
		t.Errorf("expected the new host key and the former one, got %d lines", lines)
	}
}

func TestARotationByAgeIsLookedForWhenItIsDue(t *testing.T) {
	for what, test := range map[string]struct {
		diva *opsv1.Diva
		ring *ring
		g    given
		want time.Duration
	}{
		"no age":                  {newDiva(1), settled(t), given{}, 0},
		"in an hour":              {newDiva(1, withAge("2h")), settled(t), given{}, time.Hour},
		"at once":                 {newDiva(1, withAge("1h")), settled(t), given{}, time.Second},
		"while another goes on":   {newDiva(1, withAge("2h")), authorizing(t), given{}, 0},
		"for one that is given":   {newDiva(1, withAge("2h")), settled(t), given{pair: key(t, "old")}, 0},
		"that is beyond all days": {newDiva(1, withAge("3650d")), settled(t), given{}, 3650*24*time.Hour - time.Hour},
	} {
		if got := test.ring.expires(test.diva, test.g, noon); got != test.want {
			t.Errorf("%s: expected %s, got %s", what, test.want, got)
		}
	}
}
