// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

const unitFile = "/etc/systemd/system/x.service"

var (
	absent = ledger.State{Entry: hostfs.Entry{Type: hostfs.Absent}}
	on     = ledger.State{Value: units.Enabled}
	off    = ledger.State{Value: units.Disabled}
	unitX  = ledger.Key{Kind: ledger.Unit, Name: "x.service"}
)

func file(content string) ledger.State {
	return ledger.State{Entry: hostfs.Entry{Type: hostfs.File, Mode: 0o644, Hash: hostfs.Hash([]byte(content))}}
}

func declare(p, content string) hostconfig.Config {
	c := []byte(content)
	return hostconfig.Config{Name: "new", Files: []hostconfig.File{{Entry: hostconfig.Entry{Path: p}, Contents: &c}}}
}

func unit(contents string, enabled *bool) hostconfig.Config {
	return hostconfig.Config{Name: "new", Units: []hostconfig.Unit{{Name: "x.service", Contents: &contents, Enabled: enabled}}}
}

func record(key ledger.Key, before, written ledger.State) ledger.Record {
	return ledger.Record{Key: key, Before: before, Written: written}
}

func adopted(r ledger.Record, instead ledger.State) ledger.Record {
	r.Instead = &instead
	return r
}

// facts returns a host with the directories of the tests.
func facts(states map[ledger.Key]ledger.State) Facts {
	f := Facts{States: states, Installs: map[string]string{}, Vendor: map[string]bool{}, Words: map[string]string{}}
	for _, p := range []string{"/etc", "/etc/systemd", "/etc/systemd/system"} {
		f.States[path(p)] = directory(0o755, 0, 0)
	}
	return f
}

func TestAPlanHasTheStepsThatAreMissing(t *testing.T) {
	yes := true
	a, none := path("/etc/a"), hostconfig.Config{Name: "new"}
	const wanted, timed = "[Install]\nWantedBy=a.target\n", "[Install]\nWantedBy=b.target\n"
	for _, test := range []struct {
		name      string
		config    hostconfig.Config
		records   []ledger.Record
		states    map[ledger.Key]ledger.State
		change    func(f *Facts)
		want      []string
		conflicts int
	}{
		{name: "new file", config: declare("/etc/a", "x"), states: map[ledger.Key]ledger.State{a: absent}, want: []string{"set path /etc/a"}},
		{name: "file that the host has already", config: declare("/etc/a", "x"), states: map[ledger.Key]ledger.State{a: file("x")}},
		{
			name: "changed file", config: declare("/etc/a", "y"), want: []string{"set path /etc/a"},
			records: []ledger.Record{record(a, absent, file("x"))}, states: map[ledger.Key]ledger.State{a: file("x")},
		},
		{
			name: "file without parents", config: declare("/srv/b/c", "x"), states: map[ledger.Key]ledger.State{},
			want: []string{"set path /srv", "set path /srv/b", "set path /srv/b/c"},
		},
		{
			name: "dropped file", config: none, want: []string{"set path /etc/a"},
			records: []ledger.Record{record(a, file("o"), file("x"))}, states: map[ledger.Key]ledger.State{a: file("x")},
		},
		{
			name: "dropped file that is restored already", config: none,
			records: []ledger.Record{record(a, file("o"), file("x"))}, states: map[ledger.Key]ledger.State{a: file("o")},
		},
		{
			name: "dropped file that a user changed", config: none, conflicts: 1,
			records: []ledger.Record{record(a, file("o"), file("x"))}, states: map[ledger.Key]ledger.State{a: file("user")},
		},
		{
			name: "declared file that a user changed", config: declare("/etc/a", "x"), want: []string{"set path /etc/a"},
			records: []ledger.Record{record(a, file("o"), file("x"))}, states: map[ledger.Key]ledger.State{a: file("user")},
		},
		{
			name: "declared file whose change was adopted", config: declare("/etc/a", "x"),
			records: []ledger.Record{adopted(record(a, file("user"), file("user")), file("x"))}, states: map[ledger.Key]ledger.State{a: file("user")},
		},
		{
			name: "unit", config: unit(wanted, &yes), states: map[ledger.Key]ledger.State{path(unitFile): absent, unitX: off},
			want: []string{"set path " + unitFile, "daemon-reload", "set unit x.service"},
		},
		{
			name: "unit without [Install]", config: unit("[Service]\n", &yes), states: map[ledger.Key]ledger.State{path(unitFile): absent, unitX: off},
			want: []string{"set path " + unitFile, "daemon-reload"},
		},
		{
			name: "unit with another [Install]", config: unit(timed, &yes),
			records: []ledger.Record{record(path(unitFile), absent, file(wanted)), record(unitX, off, on)},
			states:  map[ledger.Key]ledger.State{path(unitFile): file(wanted), unitX: on},
			change:  func(f *Facts) { f.Installs[unitFile] = units.Install(wanted) },
			want:    []string{"set unit x.service", "set path " + unitFile, "daemon-reload", "set unit x.service"},
		},
		{
			name: "unit with the same [Install]", config: unit(wanted+"[Service]\n", &yes),
			records: []ledger.Record{record(path(unitFile), absent, file(wanted)), record(unitX, off, on)},
			states:  map[ledger.Key]ledger.State{path(unitFile): file(wanted), unitX: on},
			change:  func(f *Facts) { f.Installs[unitFile] = units.Install(wanted) },
			want:    []string{"set path " + unitFile, "daemon-reload"},
		},
		{
			name: "dropped unit that a user enabled", config: none, records: []ledger.Record{record(path(unitFile), absent, file(wanted))},
			states: map[ledger.Key]ledger.State{path(unitFile): file(wanted), unitX: on},
			change: func(f *Facts) { f.Installs[unitFile] = units.Install(wanted) },
			want:   []string{"set unit x.service", "set path " + unitFile, "daemon-reload"},
		},
		{
			name: "dropped override of a unit that stays enabled", config: none, records: []ledger.Record{record(path(unitFile), absent, file(wanted))},
			states: map[ledger.Key]ledger.State{path(unitFile): file(wanted), unitX: on},
			change: func(f *Facts) { f.Installs[unitFile], f.Vendor["x.service"] = units.Install(wanted), true },
			want:   []string{"set unit x.service", "set path " + unitFile, "daemon-reload", "set unit x.service"},
		},
	} {
		l := ledger.Ledger{Records: map[ledger.Key]ledger.Record{}}
		for _, r := range test.records {
			l.Records[r.Key] = r
		}
		f := facts(test.states)
		if test.change != nil {
			test.change(&f)
		}
		p, err := New(test.config, l, f)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, s := range p.Steps {
			got = append(got, s.String())
		}
		if !slices.Equal(got, test.want) || len(p.Conflicts) != test.conflicts {
			t.Errorf("%s: expected %v, got %v and %v", test.name, test.want, got, p.Conflicts)
		}
		expectRecords(t, test.name, p)
		if test.conflicts == 0 {
			expectNothingToDo(t, test.name, test.config, p, f)
		}
	}
}

// expectRecords checks that the ledger names every change before it is made.
func expectRecords(t *testing.T, name string, p Plan) {
	t.Helper()
	for _, s := range p.Steps {
		r, known := p.Intent.Records[s.Key]
		vanishes := s.Kind == ledger.Unit && s.To == off
		if s.Do == Set && !vanishes && (!known || !r.Pending || !r.Explains(s.From) || !r.Explains(s.To)) {
			t.Errorf("%s: expected a record of %s before the change, got %+v", name, s, r)
		}
	}
	for _, r := range p.Done.Records {
		if r.Pending {
			t.Errorf("%s: expected no pending record at the end, got %+v", name, r)
		}
	}
}

// expectNothingToDo plans again after all steps.
func expectNothingToDo(t *testing.T, name string, c hostconfig.Config, p Plan, f Facts) {
	t.Helper()
	for _, s := range p.Steps {
		if s.Do == Set {
			f.States[s.Key] = s.To
		}
		if s.Kind == ledger.Path {
			f.Installs[s.Name] = units.Install(string(s.Content))
		}
	}
	again, err := New(c, p.Done, f)
	if err != nil || len(again.Steps) > 0 {
		t.Errorf("%s: expected nothing to do afterwards, got %v and %v", name, again.Steps, err)
	}
	if diff := cmp.Diff(p.Done, again.Done); diff != "" {
		t.Errorf("%s: expected the same ledger afterwards: %s", name, diff)
	}
}
