// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineorder

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

var digest = "sha256-" + strings.Repeat("0a", 32)

func sample() Order {
	return Order{
		Config: "rendered-worker-1", Digest: digest, Actions: []Action{{Type: ActionDrain}, {Type: ActionRestart, Unit: "crio.service"}},
		Drift: RepairDrift, Peers: []Peer{{"node-b", "10.0.0.2:10250"}, {"node-c", "[fd00::1]:10250"}},
	}
}

func TestAnOrderArrivesUnchanged(t *testing.T) {
	for name, want := range map[string]Order{"full": sample(), "restore": {Config: None}, "reboot": {Config: "a", Digest: digest, Actions: []Action{{Type: ActionReboot}}, SkipDrain: true}} {
		text, err := EncodeOrder(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseOrder(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: expected the same order, got %v, %s", name, err, diff)
		}
	}
}

func TestOnlyOrdersThatDisruptPodsRequestADrain(t *testing.T) {
	for _, test := range []struct {
		actions         []Action
		skip            bool
		drains, reboots bool
	}{
		{nil, false, false, false}, {[]Action{{Type: ActionReload, Unit: "a.service"}}, false, false, false},
		{[]Action{{Type: ActionDrain}}, false, true, false}, {[]Action{{Type: ActionReboot}}, false, true, true},
		{[]Action{{Type: ActionReboot}}, true, false, true},
	} {
		o := Order{Actions: test.actions, SkipDrain: test.skip}
		if o.Drains() != test.drains || o.Reboots() != test.reboots {
			t.Errorf("%+v: expected drain %v and reboot %v, got %v and %v", o, test.drains, test.reboots, o.Drains(), o.Reboots())
		}
	}
}

func TestAWrongOrderIsExplained(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{``, "cannot be read"},
		{`{"config":"a"} {}`, "text after"},
		{`{"config":"a","digest":"` + digest + `","more":1}`, "unknown field"},
		{`{"config":"a/b","digest":"` + digest + `"}`, "not the name of a configuration"},
		{`{"config":"a","digest":"sha256-x"}`, "digest must be"},
		{`{"config":"a"}`, "digest must be"},
		{`{"config":"none","digest":"` + digest + `"}`, "digest must be"},
		{`{"config":"none","drift":"x"}`, "drift must be"},
		{`{"config":"none","actions":[{"type":"Reboot"},{"type":"Drain"}]}`, "only action"},
		{`{"config":"none","actions":[{"type":"Drain","unit":"a.service"}]}`, "has no unit"},
		{`{"config":"none","actions":[{"type":"Restart","unit":"--root=/x"}]}`, "not the name of a unit"},
		{`{"config":"none","actions":[{"type":"Restart","unit":"opcrew-machine.service"}]}`, "cannot restart itself"},
		{`{"config":"none","actions":[{"type":"x"}]}`, "does not know the action"},
		{`{"config":"none","peers":[{"name":"a","address":"example.com:1"}]}`, "must have an IP address"},
		{`{"config":"none","peers":[{"name":"a","address":"10.0.0.1:0"}]}`, "must have an IP address"},
		{`{"config":"none","peers":[{},{},{},{},{},{}]}`, "more than 5 peers"},
		{`{"config":"` + strings.Repeat("a", MaxOrder) + `"}`, "at most"},
		{"{\"config\":\"\xff\"}", "UTF-8"},
	} {
		if _, err := ParseOrder(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.200s: expected an error with %q, got %v", test.text, test.want, err)
		}
	}
}

func TestAReportFitsWhateverWasFound(t *testing.T) {
	for name, text := range map[string]string{"long": strings.Repeat("ä", 10_000), "control characters": strings.Repeat("\x01\n<&", 5000), "quotes": strings.Repeat(`"\`, 5000), "hostile": strings.Repeat("\xff", 5000)} {
		r := Report{Config: strings.Repeat("c", maxName), Phase: PhaseReverted, RevertedTo: strings.Repeat("p", maxName), BootID: strings.Repeat("b", maxBootID)}
		r.SetMessage(text)
		r.SetDrift([]string{text, text, text, text, text, text, text, text, text, text, text, text})
		encoded, err := EncodeReport(r)
		if err != nil {
			t.Errorf("%s: expected the report to fit, got %v", name, err)
			continue
		}
		got, err := ParseReport(encoded)
		if diff := cmp.Diff(r, got); diff != "" || err != nil || got.MoreDrift != 2 {
			t.Errorf("%s: expected the same report, got %v, %s", name, err, diff)
		}
	}
}

func TestAWrongReportIsExplained(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"config":"a","phase":"Later"}`, "does not know the phase"},
		{`{"phase":"Done"}`, "not the name of a configuration"},
		{`{"config":"a","phase":"Done","message":"` + strings.Repeat("x", 2000) + `"}`, "too long"},
		{`{"config":"a","phase":"Done","moreDrift":-1}`, "more drift than fits"},
		{strings.Repeat(" ", MaxReport+1), "at most"},
	} {
		if _, err := ParseReport(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.200s: expected an error with %q, got %v", test.text, test.want, err)
		}
	}
	if _, err := ParseReport(`{"config":"a","phase":"Done","new":1}`); err != nil {
		t.Errorf("expected the report of a later agent to be read, got %v", err)
	}
}

func TestTheNamesAreThoseOfTheAPI(t *testing.T) {
	for got, want := range map[string]string{
		CurrentConfig: mcfgv1.CurrentConfigAnnotation, DesiredConfig: mcfgv1.DesiredConfigAnnotation, State: mcfgv1.StateAnnotation, Reason: mcfgv1.ReasonAnnotation,
		DesiredDrain: mcfgv1.DesiredDrainAnnotation, LastAppliedDrain: mcfgv1.LastAppliedDrainAnnotation, StateDone: string(mcfgv1.StateDone),
		StateWorking: string(mcfgv1.StateWorking), StateDegraded: string(mcfgv1.StateDegraded), StateUnreconcilable: string(mcfgv1.StateUnreconcilable),
		string(ActionReboot): string(mcfgv1.ActionReboot), string(ActionDrain): string(mcfgv1.ActionDrain), string(ActionDaemonReload): string(mcfgv1.ActionDaemonReload),
	} {
		if got != want {
			t.Errorf("expected %s as in the API, got %s", want, got)
		}
	}
}

func FuzzOrder(f *testing.F) {
	text, _ := EncodeOrder(sample())
	f.Add(text)
	f.Add(`{"config":"none"}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOrder(text)
		if err != nil {
			return
		}
		again, err := EncodeOrder(o)
		if err != nil {
			t.Fatalf("an order that was parsed cannot be encoded: %v", err)
		}
		if got, err := ParseOrder(again); err != nil || !cmp.Equal(o.Config, got.Config) || len(o.Actions) != len(got.Actions) {
			t.Fatalf("an order changes when it is encoded: %v", err)
		}
	})
}

func FuzzReport(f *testing.F) {
	f.Add(`{"config":"a","phase":"Done"}`, "message")
	f.Fuzz(func(t *testing.T, text, message string) {
		r, err := ParseReport(text)
		if err != nil {
			return
		}
		r.SetMessage(message)
		r.SetDrift([]string{message})
		encoded, err := EncodeReport(r)
		if err != nil {
			return // quotes in what was parsed may need more space than the limit
		}
		if _, err := ParseReport(encoded); err != nil {
			t.Fatalf("a report cannot be read again: %v", err)
		}
	})
}
