// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonpatch

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	apiserver "gopkg.in/evanphx/json-patch.v4" // the library with which the API server applies patches
)

// applied applies a patch as the API server does.
func applied(t *testing.T, patch Patch, document string) (string, error) {
	t.Helper()
	decoded, err := apiserver.DecodePatch(patch.Encode())
	if err != nil {
		t.Fatalf("expected the library to read the patch %s: %v", patch.Encode(), err)
	}
	out, err := decoded.Apply([]byte(document))
	return string(out), err
}

func same(t *testing.T, got, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Fatalf("read %q and %q: %v", got, want, err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("expected %s, got %s", want, got)
	}
}

func TestOperationsChangeADocument(t *testing.T) {
	for name, c := range map[string]struct {
		patch        Patch
		before, want string
	}{
		"add a new value":            {Patch{Add("/a", "x")}, `{}`, `{"a":"x"}`},
		"add over an existing value": {Patch{Add("/a", "x")}, `{"a":"y"}`, `{"a":"x"}`},
		"add a value that is false":  {Patch{Add("/a", false)}, `{"a":true}`, `{"a":false}`},
		"add a value that is empty":  {Patch{Add("/a", "")}, `{"a":"y"}`, `{"a":""}`},
		"add an object":              {Patch{Add("/a", map[string]string{}), Add("/a/b", "x")}, `{}`, `{"a":{"b":"x"}}`},
		"replace a value":            {Patch{Replace("/a", "x")}, `{"a":"y"}`, `{"a":"x"}`},
		"remove a value":             {Patch{Remove("/a")}, `{"a":"y","b":"z"}`, `{"b":"z"}`},
		"remove an item of a list":   {Patch{Remove("/a/1")}, `{"a":["x","y","z"]}`, `{"a":["x","z"]}`},
		"operations in their order":  {Patch{Add("/a", "x"), Test("/a", "x"), Remove("/a")}, `{}`, `{}`},
		"a value with signs of HTML": {Patch{Add("/a", "<&>"), Test("/a", "<&>")}, `{}`, `{"a":"<&>"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := applied(t, c.patch, c.before)
			if err != nil {
				t.Fatalf("expected %s to be applied: %v", c.patch.Encode(), err)
			}
			same(t, got, c.want)
		})
	}
}

func TestTestsDecideWhetherAPatchIsApplied(t *testing.T) {
	for name, c := range map[string]struct {
		test     Operation
		document string
		passes   bool
	}{
		"the value":                       {Test("/a", "x"), `{"a":"x"}`, true},
		"another value":                   {Test("/a", "x"), `{"a":"y"}`, false},
		"a value that is gone":            {Test("/a", "x"), `{}`, false},
		"an empty value":                  {Test("/a", ""), `{"a":""}`, true},
		"an empty value that is gone":     {Test("/a", ""), `{}`, false},
		"no value":                        {Absent("/a"), `{}`, true},
		"a value that came":               {Absent("/a"), `{"a":"x"}`, false},
		"an empty value that came":        {Absent("/a"), `{"a":""}`, false},
		"observed and unchanged":          {Unchanged("/a", "x", true), `{"a":"x"}`, true},
		"observed and changed":            {Unchanged("/a", "x", true), `{"a":"y"}`, false},
		"not observed and still not set":  {Unchanged("/a", "", false), `{}`, true},
		"not observed and set meanwhile":  {Unchanged("/a", "", false), `{"a":"x"}`, false},
		"observed as empty and unchanged": {Unchanged("/a", "", true), `{"a":""}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := applied(t, Patch{c.test, Add("/b", "1")}, c.document)
			if c.passes && err != nil {
				t.Errorf("expected the test to pass on %s: %v", c.document, err)
			}
			if !c.passes && err == nil {
				t.Errorf("expected the test to refuse %s", c.document)
			}
		})
	}
}

func TestPointersLeadToNamesWithAnyCharacter(t *testing.T) {
	for _, name := range []string{"plain", "opcrew.io/machine-order", "a~b", "a~1b", "a~0b", "~/~", "/", "~", "", "ä ö", `"\`, "0", "-"} {
		t.Run(name, func(t *testing.T) {
			document, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{name: "old"}}})
			if err != nil {
				t.Fatal(err)
			}
			path := Pointer("metadata", "annotations", name)
			got, err := applied(t, Patch{Test(path, "old"), Replace(path, "new"), Test(path, "new"), Remove(path), Absent(path)}, string(document))
			if err != nil {
				t.Fatalf("expected %q to lead to the annotation %q: %v", path, name, err)
			}
			same(t, got, `{"metadata":{"annotations":{}}}`)
		})
	}
}

func TestPointersAreWrittenAsRFC6901Says(t *testing.T) {
	for want, names := range map[string][]string{
		"":                 nil,
		"/spec/taints":     {"spec", "taints"},
		"/a~1b/c~0d/e~01f": {"a/b", "c~d", "e~1f"},
	} {
		if got := Pointer(names...); got != want {
			t.Errorf("expected the names %q to give %q, got %q", names, want, got)
		}
	}
}

func TestThePatchOfOneDecisionAlwaysHasTheSameText(t *testing.T) {
	patch := Patch{Test("/a", "x"), Absent("/b"), Add("/b", 1), Replace("/a", "y"), Remove("/c")}
	const want = `[{"op":"test","path":"/a","value":"x"},{"op":"test","path":"/b","value":null},{"op":"add","path":"/b","value":1},` +
		`{"op":"replace","path":"/a","value":"y"},{"op":"remove","path":"/c","value":null}]`
	if got := string(patch.Encode()); got != want {
		t.Errorf("expected %s, got %s", want, got)
	}
}

func TestAValueThatCannotBeJSONIsNotSent(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("expected a panic, because a value without JSON is a mistake in the code")
		}
	}()
	Patch{Add("/a", make(chan int))}.Encode()
}
