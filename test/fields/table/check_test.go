// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// kind returns the repository's table for a kind.
func kind(t *testing.T, name string) *File {
	t.Helper()
	files, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Kind == name {
			return f
		}
	}
	t.Fatalf("there is no table of %s", name)
	return nil
}

func TestATableThatProvesNothingIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*File)
		want   string
	}{
		"a field without a row":         {func(f *File) { f.Rows = f.Rows[1:] }, "has no row"},
		"a row without a field":         {func(f *File) { f.Rows[0].Path = "spec.nothing" }, "has no field spec.nothing"},
		"two rows of a field":           {func(f *File) { f.Rows = append(f.Rows, f.Rows[0]) }, "has 2 rows"},
		"a row of an embedded field":    {func(f *File) { f.Rows[0].Path = "spec.envs[].name" }, "has no field spec.envs[].name"},
		"an edit without a check":       {func(f *File) { f.Rows[0].See = nil }, "needs see"},
		"a refusal without words":       {func(f *File) { f.Rows[0].Effect, f.Rows[0].Says = Refused, "" }, "needs says"},
		"an effect that there is not":   {func(f *File) { f.Rows[0].Effect = "Magic" }, `"Magic" is not a valid effect`},
		"a test that there is not":      {func(f *File) { f.Rows[0].Shown = "internal/kit.TestNothing" }, "there is no test TestNothing"},
		"a test that is not named well": {func(f *File) { f.Rows[0].Shown = "somewhere" }, "is not <folder>.<test>"},
	} {
		f := kind(t, "AppService")
		test.change(f)
		if err := f.Check(root); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: expected an error with %q, got %v", name, test.want, err)
		}
	}
}

func TestAnObservationHoldsOnlyOfWhatItSays(t *testing.T) {
	pod := func(image string) Object {
		return Object{"spec": Object{"containers": []any{Object{"name": "app", "image": image}}}}
	}
	for text, test := range map[string]struct {
		objects []Object
		holds   bool
	}{
		"Pod {.spec.containers[0].image} = a:1":                {[]Object{pod("a:1"), pod("a:1")}, true},
		"Pod {.spec.containers[0].image} = a:2":                {[]Object{pod("a:2"), pod("a:1")}, false},
		"Pod {.spec.containers[0].image} ~ a":                  {[]Object{pod("a:1")}, true},
		"Pod {.spec.containers[0].image} !~ a":                 {[]Object{pod("a:1")}, false},
		"Pod {.spec.containers[0].image} != b":                 {[]Object{pod("a:1")}, true},
		"Pod {.spec.containers[?(@.name==\"app\")].image} = b": {[]Object{pod("b")}, true},
		"Pod {.spec.nothing.at.all} = b":                       {[]Object{pod("b")}, false},
		"Pod {.spec.containers[0].image} = a":                  {nil, false},
		"Service/web":                                          {[]Object{{}}, true},
		"Service/other":                                        {nil, false},
		"no Service/web":                                       {nil, true},
		"no Service/there":                                     {[]Object{{}}, false},
	} {
		var see See
		raw, err := yaml.Marshal(text)
		if err == nil {
			err = yaml.Unmarshal(raw, &see)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err := see.In(test.objects); (err == nil) != test.holds {
			t.Errorf("%s: expected it to hold: %t, got %v", text, test.holds, err)
		}
	}
	var see See
	if err := yaml.Unmarshal([]byte(`"what is this?"`), &see); err == nil {
		t.Error("expected text that is no observation to be refused")
	}
}

func TestAnEditKeepsWhatStandsBesideTheField(t *testing.T) {
	object := Object{"spec": Object{"ports": []any{Object{"port": 80, "name": "a"}, Object{"port": 81}}}}
	change := Row{To: nil}.Change("spec.ports[].name", object)
	raw, err := yaml.Marshal(change)
	if want := "spec:\n  ports:\n  - port: 80\n  - port: 81\n"; err != nil || string(raw) != want {
		t.Errorf("expected the second port and the number of the first to stay, got\n%s", raw)
	}
}
