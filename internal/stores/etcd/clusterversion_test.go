// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// asked queries a member for the cluster version.
func asked(t *testing.T, target Target, endpoint string) (string, error) {
	t.Helper()
	target.Endpoints = []string{endpoint}
	store, err := Dial(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store.ClusterVersion(t.Context(), endpoint)
}

func TestTheVersionOfTheClusterIsReadAsEtcdReportsIt(t *testing.T) {
	for name, test := range map[string]struct {
		status            int
		body, want, wrong string
	}{
		"3.4 and 3.5":               {200, `{"etcdserver":"3.4.44","etcdcluster":"3.4.0"}`, "3.4.0", ""},
		"3.6 and later":             {200, `{"etcdserver":"3.6.16","etcdcluster":"3.5.0","storage":"3.5.0"}`, "3.5.0", ""},
		"before all have met":       {200, `{"etcdserver":"3.6.16","etcdcluster":"3.0.0"}`, "3.0.0", ""},
		"before there is any":       {200, `{"etcdserver":"3.4.44","etcdcluster":"not_decided"}`, "", ""},
		"nothing of the cluster":    {200, `{"etcdserver":"3.4.44"}`, "", "the response is not a version report of etcd"},
		"not etcd":                  {200, "hello", "", "the response is not a version report of etcd"},
		"without end":               {200, `{"etcdcluster":"` + strings.Repeat("3", mostVersion) + `"}`, "", "the response is not a version report of etcd"},
		"a host that is not let in": {421, `{"etcdcluster":"3.6.0"}`, "", "responds with 421"},
		"it sends us elsewhere":     {302, "", "", "responds with 302"},
	} {
		t.Run(name, func(t *testing.T) {
			member := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/version" {
					t.Errorf("expected GET /version, got %s %s", r.Method, r.URL.Path)
				}
				w.Header().Set("Location", "http://127.0.0.1:1/version")
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}))
			defer member.Close()
			got, err := asked(t, Target{}, member.URL)
			switch {
			case got != test.want || (err != nil) != (test.wrong != ""):
				t.Errorf("expected version %q, got %q, %v", test.want, got, err)
			case err != nil && !strings.Contains(err.Error(), test.wrong):
				t.Errorf("expected the error %q, got %q", test.wrong, err)
			}
		})
	}
}

func TestTheVersionOfTheClusterIsAskedForByTheTLSOfEverythingElse(t *testing.T) {
	member := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"etcdcluster":"3.6.0"}`)
	}))
	// Like etcd, the server offers only HTTP/2 and requires a client certificate.
	member.TLS = &tls.Config{NextProtos: []string{"h2"}, ClientAuth: tls.RequireAnyClientCert}
	member.Config.ErrorLog = log.New(io.Discard, "", 0)
	member.StartTLS()
	defer member.Close()
	roots := x509.NewCertPool()
	roots.AddCert(member.Certificate())
	trusts := &tls.Config{RootCAs: roots}
	known := trusts.Clone()
	known.Certificates = member.TLS.Certificates
	for name, test := range map[string]struct {
		tls  *tls.Config
		want string
	}{
		"the operator's":        {known, "3.6.0"},
		"without a certificate": {trusts, ""},
		"none at all":           {nil, ""},
	} {
		got, err := asked(t, Target{TLS: test.tls}, member.URL)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: expected version %q, got %q, %v", name, test.want, got, err)
		}
	}
}

func TestAQuestionForTheVersionEndsWithTheStore(t *testing.T) {
	arrived := make(chan struct{})
	member := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done() // the server never responds: it waits until the client gives up
	}))
	defer member.Close()
	store, err := Dial(Target{Endpoints: []string{member.URL}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-arrived
		_ = store.Close()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := store.ClusterVersion(ctx, member.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("expected the question to be given up, got %v", err)
	}
	if _, err := store.ClusterVersion(ctx, member.URL); err == nil {
		t.Error("expected no question to a store that is closed")
	}
}

// versioned is a store that only reports a cluster version.
type versioned struct {
	Store
	version string
	err     error
	asked   string
}

func (s *versioned) ClusterVersion(_ context.Context, endpoint string) (string, error) {
	s.asked = endpoint
	return s.version, s.err
}

func TestTheVersionOfTheClusterIsAskedForOnlyWhileItMayChange(t *testing.T) {
	runs := func(view View, id uint64, version string) View {
		status := view.Status[id]
		status.Version = version
		view.Status[id] = status
		return view
	}
	speaks := func(view View, version string) View {
		view.ClusterVersion = version
		return view
	}
	all := func(version string) View {
		view := three()
		for id := range view.Status {
			view = runs(view, id, version)
		}
		return view
	}
	learning := with(speaks(three(), "3.5.0"), map[uint64]MemberStatus{2: {Err: errGone}, 1: {Err: errGone}})
	learning.Members[2].Learner = true
	unlisted := speaks(all("3.7.3"), "3.6.0")
	unlisted.Err = errGone
	says := func(version string) *versioned { return &versioned{version: version} }
	for name, test := range map[string]struct {
		view        View
		store       *versioned
		asked, want string
		agreeing    bool
	}{
		"it speaks what all run":          {three(), says("x"), "", "3.6.0", false},
		"another patch of it":             {runs(three(), 1, "3.6.16"), says("x"), "", "3.6.0", false},
		"one runs the next":               {runs(three(), 1, "3.7.3"), says("x"), "", "3.6.0", false},
		"all run the next":                {all("3.7.3"), says("3.6.0"), "m2", "3.6.0", true},
		"and it has been raised":          {all("3.7.3"), says("3.7.0"), "m2", "3.7.0", false},
		"nothing is known yet":            {speaks(three(), ""), says("3.6.0"), "m2", "3.6.0", false},
		"nor is it decided":               {speaks(three(), ""), says(""), "m2", "", true},
		"who is asked knows of none":      {all("3.7.3"), says(""), "m2", "3.6.0", true},
		"it cannot be asked":              {all("3.7.3"), &versioned{err: errGone}, "m2", "3.6.0", false},
		"the leader does not answer":      {with(all("3.7.3"), map[uint64]MemberStatus{2: {Err: errGone}}), says("3.7.0"), "m1", "3.7.0", false},
		"only a learner answers":          {learning, says("x"), "", "3.5.0", true},
		"the members could not be listed": {unlisted, says("x"), "", "3.6.0", true},
		"no member answers":               {View{Members: []Member{voter(1)}}, says("x"), "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			test.view.askVersion(t.Context(), test.store)
			if who := strings.TrimSuffix(strings.TrimPrefix(test.store.asked, "http://"), ":2379"); who != test.asked {
				t.Errorf("expected %q to be asked, got %q", test.asked, who)
			}
			if got := test.view.ClusterVersion; got != test.want || !errors.Is(test.view.VersionErr, test.store.err) {
				t.Errorf("expected version %q, got %q (%v)", test.want, got, test.view.VersionErr)
			}
			if got := test.view.agreeing(); got != test.agreeing {
				t.Errorf("expected the members to be about to agree: %t, got %t", test.agreeing, got)
			}
		})
	}
}

func TestMembersThatDoNotAgreeAreLookedAtEagerlyForAMinute(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	before := View{}
	look := func(after time.Duration, says string) View {
		v := View{At: noon.Add(after), ClusterVersion: says, Status: map[uint64]MemberStatus{1: {ID: 1, Version: "3.6.16"}}}
		v.noteAgreement(before)
		before = v
		return v
	}
	for _, step := range []struct {
		after time.Duration
		says  string
		want  bool
	}{
		{0, "3.5.0", true},
		{59 * time.Second, "3.5.0", true},
		{time.Minute, "3.5.0", false},
		{time.Hour, "3.5.0", false},
		{2 * time.Hour, "3.6.0", false},
		{3 * time.Hour, "3.5.0", true}, // the versions differ again, so the time starts from zero
		{3*time.Hour + time.Minute, "3.5.0", false},
	} {
		if v := look(step.after, step.says); v.agreeing() != step.want {
			t.Errorf("after %s with %s: expected the members to be about to agree: %t", step.after, step.says, step.want)
		}
	}
}
