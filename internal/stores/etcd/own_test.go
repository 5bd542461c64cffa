// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
)

// ours returns a target with two endpoints. Only the pod of the first has a known address.
func ours() Target {
	return Target{
		Endpoints: []string{"https://db-1.db.shop.svc.cluster.local:2379", "https://db-2.db.shop.svc.cluster.local:2379"},
		Addresses: map[string]string{"db-1.db.shop.svc.cluster.local": "10.0.0.7"},
	}
}

func TestOnlyURLsOfTheClustersOwnPodsAreAsked(t *testing.T) {
	for url, want := range map[string]bool{
		"https://db-1.db.shop.svc.cluster.local:2379":   true,
		"https://db-1.db.shop.svc.cluster.local:2379/":  true,
		"https://db-1.db.shop.svc:2379":                 true,
		"https://db-1.db.shop.svc.evil.example:2379":    true, // allowed, because the DNS domain of the host is ignored
		"https://db-3.db.shop.svc.cluster.local:2379":   false,
		"https://db-1.db.bank.svc.cluster.local:2379":   false,
		"https://db-1.db.shop.svc.cluster.local:443":    false,
		"https://db-1.db.shop.svc.cluster.local":        false,
		"http://db-1.db.shop.svc.cluster.local:2379":    false,
		"unix://db-1.db.shop.svc.cluster.local:2379":    false,
		"https://a@db-1.db.shop.svc.cluster.local:2379": false,
		"https://db-1.db.shop.svc.cluster.local:2379/x": false,
		"https://db-1.db.shop.svc.cluster.local:2379?x": false,
		"https://db-1.db.shop.svc.cluster.local:2379#x": false,
		"https://169.254.169.254:2379":                  false,
		"https://kubernetes.default.svc:2379":           false,
		"https://evil.example:2379/db-1.db.shop.svc":    false,
		"https://db-1.db.shop.svcx:2379":                false,
		"https:db-1.db.shop.svc:2379":                   false,
		"":                                              false, "://": false, "https://[::1": false,
	} {
		members := ours().divide([]Member{{ID: 1, ClientURLs: []string{url}}})
		at, asked := members[0].Endpoint()
		if asked != want || asked && at != ours().Endpoints[0] || !asked && !slices.Equal(members[0].Foreign, []string{url}) {
			t.Errorf("%q: expected it to be asked: %t, got %+v", url, want, members[0])
		}
		if !members[0].Started() {
			t.Errorf("%q: expected a member that publishes anything to have started", url)
		}
	}
}

func TestAMemberWithAURLOfAnotherHostIsNotAskedAndExplained(t *testing.T) {
	view := View{Members: ours().divide([]Member{{ID: 1, ClientURLs: []string{"https://10.9.9.9:2379"}}})}
	view.fill(nil, map[string]MemberStatus{})
	err := view.Status[1].Err
	if err == nil || !strings.Contains(err.Error(), "https://10.9.9.9:2379") || len(endpoints(view.Members)) > 0 {
		t.Errorf("expected the member to be unhealthy as its URL is not asked, got %v and %q", err, endpoints(view.Members))
	}
	if _, ok := view.informed(); ok {
		t.Error("expected it not to be asked for the version either")
	}
	if _, err := (&remote{target: ours()}).conn("https://10.9.9.9:2379"); err == nil {
		t.Error("expected no connection to be made for a step either")
	}
	if _, err := (&remote{target: ours(), open: context.Background()}).ClusterVersion(t.Context(), "https://10.9.9.9:2379"); err == nil {
		t.Error("expected no request by HTTP either")
	}
}

func TestMembersAreDialledWhereTheirPodsWereSeenAndNotWhereDNSLeads(t *testing.T) {
	var dialled []string
	given := func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return nil, net.ErrClosed
	}
	dial := ours().dialer(given)
	if _, err := dial(t.Context(), "tcp", "db-2.db.shop.svc.cluster.local:2379"); err == nil || len(dialled) > 0 {
		t.Errorf("expected no name to be dialled whose pod has no address, got %v, %q", err, dialled)
	}
	_, _ = dial(t.Context(), "tcp", "db-1.db.shop.svc.cluster.local:2379")
	if got, err := ours().address("db-1.db.shop.svc.cluster.local:2379"); got != "10.0.0.7:2379" || err != nil || len(dialled) != 1 {
		t.Errorf("expected the address of the pod, got %q (%v), dialled %q", got, err, dialled)
	}
}

func TestAnotherAddressOfAPodDialsAgain(t *testing.T) {
	moved := ours()
	moved.Addresses = map[string]string{"db-1.db.shop.svc.cluster.local": "10.0.0.8"}
	if same(ours(), moved) || !same(ours(), ours()) {
		t.Error("expected another address to be another target")
	}
}

func TestAListThatNoClusterHasIsRefused(t *testing.T) {
	for name, members := range map[string][]Member{
		"many":         make([]Member, 65),
		"a long name":  {{Name: strings.Repeat("x", 254)}},
		"a long URL":   {{PeerURLs: []string{strings.Repeat("x", 301)}}},
		"many URLs":    {{ClientURLs: make([]string, 9)}},
		"control":      {{Name: "a\x1b[31m"}},
		"a line break": {{ClientURLs: []string{"http://a\nb"}}},
	} {
		if checked(members) == nil {
			t.Errorf("%s: expected the list to be refused", name)
		}
	}
	if err := checked([]Member{voter(1), learner(2), unstarted(3)}); err != nil {
		t.Errorf("expected the list to be accepted, got %v", err)
	}
}
