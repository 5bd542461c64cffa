// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodefirewall

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var compare = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

func TestTheRulesOfAPoolAreReadAsTheyWereWritten(t *testing.T) {
	want := Pool{Name: "gold", Members: []string{"a"}, Deny: true, Rules: []Rule{
		{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::1/128")}, Ports: []Ports{{TCP, 80, 90}}},
		{Any: true},
	}}
	text, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParsePool(text)
	if diff := cmp.Diff(want, got, compare); err != nil || diff != "" {
		t.Errorf("expected the same rules, got %v:\n%s", err, diff)
	}
	if again, _ := Encode(got); Revision(again) != Revision(text) {
		t.Error("expected the same revision")
	}
}

func TestRulesThatAnAgentDoesNotUnderstandAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":          `rules`,
		"text after it":    `{"pool":"a"} {}`,
		"an unknown field": `{"pool":"a","later":1}`,
		"no name":          `{}`,
		"no CIDR":          `{"pool":"a","rules":[{"from":["all"]}]}`,
		"an empty CIDR":    `{"pool":"a","rules":[{"from":[""]}]}`,
		"no protocol":      `{"pool":"a","rules":[{"ports":[{"first":1,"last":2}]}]}`,
		"no port":          `{"pool":"a","rules":[{"ports":[{"protocol":"TCP"}]}]}`,
		"ports backwards":  `{"pool":"a","rules":[{"ports":[{"protocol":"TCP","first":9,"last":2}]}]}`,
	} {
		if _, err := ParsePool(text); err == nil {
			t.Errorf("%s: expected an error", name)
		}
	}
}

func TestRulesThatDoNotFitAreRefused(t *testing.T) {
	if _, err := Encode(Pool{Name: strings.Repeat("x", MaxDocument)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("expected ErrTooLarge, got %v", err)
	}
}

func TestAReportIsShortText(t *testing.T) {
	text, err := EncodeReport(Report{Active: map[string]string{"gold": "1"}, Message: "a\nb\xff" + strings.Repeat("x", 1000)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseReport(text)
	if err != nil || !utf8.ValidString(got.Message) || strings.Contains(got.Message, "\n") || len(got.Message) > maxMessage+3 {
		t.Errorf("expected a short line, got %q, %v", got.Message, err)
	}
	if _, err := ParseReport(`{"active":` + strings.Repeat("[", MaxReport)); err == nil {
		t.Error("expected a large report to be refused")
	}
}

func TestOrdersAndResultsAreReadAsTheyWereWritten(t *testing.T) {
	order, err := EncodeOrder(HostOrder{Rules: []Rule{{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Ports: []Ports{{TCP, 80, 90}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseOrder(order); err != nil || len(got.Rules) != 1 {
		t.Errorf("expected one rule, got %+v, %v", got, err)
	}
	for name, text := range map[string]string{"an unknown field": `{"later":1}`, "no CIDR": `{"rules":[{"from":[""]}]}`, "no JSON": ``} {
		if _, err := ParseOrder(text); err == nil {
			t.Errorf("%s: expected an error", name)
		}
	}
	text, err := EncodeResult(HostResult{Revision: Revision(order), Tools: []string{"ufw"}, Message: "a\nb"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseResult(text)
	if err != nil || got.Message != "a b" || got.Done(order) {
		t.Errorf("expected a result that is not done, with a message in one line, got %+v, %v", got, err)
	}
	if got.Message = ""; !got.Done(order) || got.Done("{}") {
		t.Error("expected the result to be about this order only")
	}
}

func FuzzReport(f *testing.F) {
	f.Add(`{"active":{"gold":"1"},"others":["ufw"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReport(text)
		if err == nil && len(r.Message) > maxMessage+3 {
			t.Errorf("expected a short message, got %d bytes", len(r.Message))
		}
	})
}
