// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/credentials"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/htpasswd"
)

// tenantOf simulates a namespace with the Secret of shared credentials.
type tenantOf struct {
	*testing.T
	ns     *corev1.Namespace
	secret *corev1.Secret
	r      *reconciler
	behind bool // the cache does not contain the Secret yet
}

func newTenant(t *testing.T, data map[string]string) *tenantOf {
	ns := &corev1.Namespace{}
	ns.Name, ns.UID = "shop", "uid-of-shop"
	o := &tenantOf{T: t, ns: ns, r: &reconciler{}}
	if data != nil {
		o.secret = &corev1.Secret{Data: config.Bytes(data)}
		o.secret.Namespace, o.secret.Name, o.secret.Labels = "shop", names.TenantAuth, map[string]string{common.OwnerLabel: string(ns.UID)}
	}
	return o
}

// look runs one reconcile of the Secret at the given time. It applies the declared Secret as the API server would, and
// returns the resulting data and the time until the next reconcile.
func (o *tenantOf) look(now time.Time) (map[string]string, time.Duration) {
	o.Helper()
	child, again := o.observe().Child(o.ns, now)
	raw, _ := json.Marshal(child.Object)
	declared := &corev1.Secret{}
	if err := json.Unmarshal(raw, declared); err != nil {
		o.Fatal(err)
	}
	if o.secret != nil {
		for _, path := range child.Carry {
			key := strings.TrimPrefix(path, "data.")
			declared.Data[key] = o.secret.Data[key]
		}
	}
	declared.Labels = map[string]string{common.OwnerLabel: string(o.ns.UID)}
	declared.ResourceVersion = ""
	o.secret = declared
	out := map[string]string{}
	for key, value := range declared.Data {
		out[key] = string(value)
	}
	return out, again
}

func (o *tenantOf) observe() credentials.Facts {
	o.Helper()
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	builder := fake.NewClientBuilder().WithScheme(scheme)
	if o.secret != nil {
		builder.WithObjects(o.secret)
	}
	live := builder.Build()
	o.r.Tools = &kit.Tools{Client: live, Live: live}
	if o.behind {
		o.r.Client = fake.NewClientBuilder().WithScheme(scheme).Build()
	}
	f, err := o.r.observeCredentials(o.Context(), o.ns, true)
	if err != nil {
		o.Fatal(err)
	}
	return f
}

// edit changes the Secret as a user would.
func (o *tenantOf) edit(key, value string) {
	if o.secret.Data[key] = []byte(value); value == "" {
		delete(o.secret.Data, key)
	}
}

// admits returns the pairs of user and password that the htpasswd lines accept.
func admits(lines string, pairs ...string) []string {
	var in []string
	for _, pair := range pairs {
		user, password, _ := strings.Cut(pair, ":")
		ok := slices.ContainsFunc(strings.Split(lines, "\n"), func(line string) bool { return credentials.Matches(line, user, password) })
		if ok {
			in = append(in, pair)
		}
	}
	return in
}

func TestATenantGetsAPasswordThatNoOneCanGuess(t *testing.T) {
	o := newTenant(t, nil)
	first, again := o.look(someTime)
	if first["username"] != credentials.DefaultUser || len(first["password"]) < 20 || again != 0 {
		t.Errorf("expected user %s and a long password, got %q of %d characters, again after %s", credentials.DefaultUser, first["username"], len(first["password"]), again)
	}
	if got := admits(first[names.HtpasswdKey], credentials.DefaultUser+":"+first["password"]); len(got) != 1 || strings.Contains(first[names.HtpasswdKey], first["password"]) {
		t.Errorf("expected the hash of the password and not itself, got %q", first[names.HtpasswdKey])
	}
	if other, _ := newTenant(t, nil).look(someTime); other["password"] == first["password"] {
		t.Error("expected each tenant to have a password of its own")
	}
	for range 3 {
		again, _ := o.look(someTime.Add(time.Hour))
		same(t, "what stands there after another look", first, again)
	}
}

func TestAfterAnEditBothPasswordsAreLetInForAWhile(t *testing.T) {
	o := newTenant(t, nil)
	first, _ := o.look(someTime)
	o.edit("password", "new")
	both := []string{"tenant:" + first["password"], "tenant:new"}
	edited, again := o.look(someTime)
	same(t, "who is let in", both, admits(edited[names.HtpasswdKey], both...))
	same(t, "the user's password", "new", edited["password"])
	same(t, "another look", credentials.Overlap, again)
	if !strings.Contains(edited[names.HtpasswdKey], "# valid until 2026-08-01T12:10:00Z\n") {
		t.Errorf("expected the old line to have an end, got %q", edited[names.HtpasswdKey])
	}
	later, again := o.look(someTime.Add(9 * time.Minute))
	same(t, "before the end nothing changes", edited, later)
	same(t, "another look", time.Minute, again)
	last, again := o.look(someTime.Add(10 * time.Minute))
	same(t, "who is let in after the end", both[1:], admits(last[names.HtpasswdKey], both...))
	if again != 0 || strings.Contains(last[names.HtpasswdKey], "#") || strings.Contains(last[names.HtpasswdKey], "\n") {
		t.Errorf("expected one line and no further look, got %q after %s", last[names.HtpasswdKey], again)
	}
}

func TestOfTwoEditsThePasswordBetweenIsTheOldOne(t *testing.T) {
	o := newTenant(t, nil)
	first, _ := o.look(someTime)
	o.edit("password", "b")
	o.look(someTime)
	o.edit("password", "c")
	got, _ := o.look(someTime.Add(time.Minute))
	same(t, "who is let in", []string{"tenant:b", "tenant:c"}, admits(got[names.HtpasswdKey], "tenant:"+first["password"], "tenant:b", "tenant:c"))
}

func TestAnotherUserIsLetInBesideTheOld(t *testing.T) {
	o := newTenant(t, nil)
	first, _ := o.look(someTime)
	o.edit("username", "alice")
	both := []string{"tenant:" + first["password"], "alice:" + first["password"]}
	got, _ := o.look(someTime)
	same(t, "who is let in", both, admits(got[names.HtpasswdKey], both...))
	same(t, "the user", "alice", got["username"])
	got, _ = o.look(someTime.Add(credentials.Overlap))
	same(t, "who is let in later", both[1:], admits(got[names.HtpasswdKey], both...))
}

func TestWhatIsMissingIsRecreated(t *testing.T) {
	for _, key := range []string{"username", "password", names.HtpasswdKey} {
		o := newTenant(t, nil)
		o.look(someTime)
		o.edit("username", "alice")
		o.edit("password", "secret")
		o.look(someTime)
		o.edit(key, "")
		got, _ := o.look(someTime)
		again, _ := o.look(someTime)
		same(t, "after "+key+" was taken away: at rest at once", got, again)
		if got["username"] == "" || got["password"] == "" || len(admits(got[names.HtpasswdKey], got["username"]+":"+got["password"])) != 1 {
			t.Errorf("after %s was taken away: expected the user and password that stand there to be let in, got %q", key, got)
		}
		if key == "password" && got["username"] != "alice" {
			t.Errorf("expected the user to stay, got %q", got["username"])
		}
	}
}

// Comparing a password with a bcrypt hash of cost 31 takes a day and would block the reconcile.
func TestALineThatCostsADayIsNeverCompared(t *testing.T) {
	bomb := "a:$2a$31$" + htpasswd.Decoy
	o := newTenant(t, map[string]string{"username": "a", "password": "p", names.HtpasswdKey: bomb + "\nb:" + "$2a$31$" + htpasswd.Decoy})
	done := make(chan map[string]string, 1)
	go func() {
		got, _ := o.look(someTime)
		done <- got
	}()
	select {
	case got := <-done:
		if strings.Contains(got[names.HtpasswdKey], "$31$") || len(admits(got[names.HtpasswdKey], "a:p")) != 1 {
			t.Errorf("expected a line of the password in place of those, got %q", got[names.HtpasswdKey])
		}
	case <-time.After(10 * time.Second):
		t.Fatal("expected the line to be replaced without a comparison")
	}
}

// Whatever a user writes into the Secret, opcrew must store well-formed lines, and the next reconcile must change
// nothing.
func TestHostileValuesDoNoHarm(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"a user with a colon":          {"username": "a:b", "password": "p"},
		"a user of two lines":          {"username": "a\nroot:x", "password": "p"},
		"a user that is a comment":     {"username": "# valid until never", "password": "p"},
		"a user that ends with blanks": {"username": "a ", "password": "p"},
		"a user that is not text":      {"username": "\xff\xfe", "password": "p"},
		"a long password":              {"username": "a", "password": strings.Repeat("long", 40)},
		"a password that is not text":  {"username": "a", "password": "\x00\xff\x00"},
		"lines that are none":          {"username": "a", "password": "p", names.HtpasswdKey: "\n\n:::\n# valid until tomorrow\nx"},
		"an end that is none":          {"username": "a", "password": "p", names.HtpasswdKey: "b:c\n# valid until 9999999-99-99\nd:e"},
		"many ends":                    {"username": "a", "password": "p", names.HtpasswdKey: "b:c\n# valid until 2026-08-01T12:00:00Z\nd:e\n# valid until 2027-08-01T12:00:00Z\nf:g"},
		"only an end of a line":        {"username": "a", "password": "\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTenant(t, data)
			got, _ := o.look(someTime)
			again, _ := o.look(someTime)
			same(t, "at rest after one look", got, again)
			last, _ := o.look(someTime.Add(credentials.Overlap))
			final, wait := o.look(someTime.Add(credentials.Overlap))
			same(t, "at rest after the end", last, final)
			user := credentials.UserIn(o.secret)
			if wait != 0 || strings.Count(last[names.HtpasswdKey], "\n") != 0 || !strings.HasPrefix(last[names.HtpasswdKey], user+":") || !htpasswd.Usable(last[names.HtpasswdKey]) {
				t.Errorf("expected one line of %s, got %q, again after %s", user, last[names.HtpasswdKey], wait)
			}
			if in := admits(last[names.HtpasswdKey], user+":"+credentials.PasswordIn(o.secret)); len(in) != 1 {
				t.Errorf("expected the password that stands there to be let in")
			}
		})
	}
}

func TestTheEndOfALineBesideAPasswordIsNoPartOfIt(t *testing.T) {
	got, _ := newTenant(t, map[string]string{"username": "a", "password": "typed\n"}).look(someTime)
	same(t, "who is let in", []string{"a:typed"}, admits(got[names.HtpasswdKey], "a:typed", "a:typed\n"))
}

// Regression: only 72 bytes of a long password were hashed with bcrypt, and the proxy rejects such a hash for longer
// passwords.
func TestAllOfALongPasswordCounts(t *testing.T) {
	long := strings.Repeat("x", 73)
	got, _ := newTenant(t, map[string]string{"username": "a", "password": long}).look(someTime)
	same(t, "who is let in", []string{"a:" + long}, admits(got[names.HtpasswdKey], "a:"+long, "a:"+long[:72], "a:"+long+"y"))
}

// Regression: if the cache did not contain the Secret yet, the hash of a new password was written next to the old
// password.
func TestASecretThatTheCacheHasNotSeenYetIsNotRecreated(t *testing.T) {
	o := newTenant(t, nil)
	first, _ := o.look(someTime)
	o.behind = true
	again, _ := o.look(someTime)
	same(t, "what stands there", first, again)
}

func TestASecretOfAnotherOwnerIsNotOurs(t *testing.T) {
	o := newTenant(t, map[string]string{"username": "a", "password": "theirs"})
	o.secret.Labels = nil
	if f := o.observe(); f.Live != nil || f.User != credentials.DefaultUser || f.Password == "theirs" {
		t.Errorf("expected nothing of another owner's Secret to be used, got user %s", f.User)
	}
}

func TestALookAtCredentialsThatWereFoundInOrderHashesNothing(t *testing.T) {
	o := newTenant(t, map[string]string{"username": "a", "password": "p", names.HtpasswdKey: "a:x"})
	o.secret.ResourceVersion = "7"
	o.r.checked.Store("shop", "7")
	got, _ := o.look(someTime)
	same(t, "lines", "a:x", got[names.HtpasswdKey])
}

func TestAHashCostsAGuesserTime(t *testing.T) {
	line, err := credentials.HashLine("a", "p")
	if err != nil {
		t.Fatal(err)
	}
	if cost, err := bcrypt.Cost([]byte(strings.TrimPrefix(line, "a:"))); err != nil || cost < 10 {
		t.Errorf("expected a cost of 10 at least, got %d (%v)", cost, err)
	}
}

func TestAPasswordAndItsLineRestOnTheSecretThatWasLookedAt(t *testing.T) {
	o := newTenant(t, nil)
	if child, _ := o.observe().Child(o.ns, time.Now()); !child.New || child.DecidedOn != "" {
		t.Errorf("expected a fresh password to be for no Secret that another user has made since, got new %t, on %q", child.New, child.DecidedOn)
	}
	o.look(time.Now())
	if child, _ := o.observe().Child(o.ns, time.Now()); child.New || child.DecidedOn == "" {
		t.Error("expected what is done to a Secret to rest on the version that was looked at")
	}
}
