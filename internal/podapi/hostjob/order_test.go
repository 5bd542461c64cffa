// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// morning returns the creation time of the Activities in these tests.
func morning() time.Time { return time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC) }

func TestAnOrderHasDefaults(t *testing.T) {
	got, err := ParseOrder([]byte(`{"uid":"u","run":1,"created":"2026-05-01T08:00:00Z","command":"true","user":"","timeoutSeconds":0}`))
	want := NewOrder("u", 1, morning())
	want.Command = "true"
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("error %v, difference from the expected order: %s", err, cmp.Diff(want, got))
	}
	if want.User != "root" || want.Dir != "/" || want.GraceSeconds != 10 {
		t.Errorf("expected root in / with 10 seconds of grace, got %+v", want)
	}
}

func TestAnOrderThatIsEncodedIsReadAsItWas(t *testing.T) {
	want := Order{
		UID: "0f1e", Run: 3, Created: morning(), ForgetBefore: morning().Add(-time.Hour), BeginBefore: morning().Add(time.Hour), BootID: "then", Args: []string{"echo", "<&>\n'\"$(id)"}, User: "ada",
		Dir: "/srv/a b", Envs: []string{"A=1=2", "B="}, SecretEnvs: map[string]string{"P": "db.password"}, TimeoutSeconds: 60, GraceSeconds: 0,
	}
	text, err := EncodeOrder(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseOrder([]byte(text))
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("error %v, difference from the expected order: %s", err, cmp.Diff(want, got))
	}
}

func TestARefusalSaysWhatIsWrongWithAnOrder(t *testing.T) {
	const begin = `{"uid":"u","run":1,"created":"2026-05-01T08:00:00Z",`
	for _, test := range []struct{ name, order, want string }{
		{"nothing", "", "EOF"},
		{"not JSON", "run this", "invalid character"},
		{"another type", begin + `"command":["a"]}`, "command"},
		{"an unknown field", begin + `"command":"a","sudo":true}`, `unknown field "sudo"`},
		{"something behind", begin + `"command":"a"} {}`, "after the order"},
		{"no command", begin + `"command":""}`, "exactly one of command and args"},
		{"both", begin + `"command":"a","args":["a"]}`, "exactly one of command and args"},
		{"nothing to execute", begin + `"args":["","a"]}`, "args must begin with the program to execute"},
		{"a uid with a path", `{"uid":"../u","run":1,"created":"2026-05-01T08:00:00Z","command":"a"}`, "uid must have only letters"},
		{"no uid", `{"run":1,"created":"2026-05-01T08:00:00Z","command":"a"}`, "uid must have only letters"},
		{"a long uid", strings.Replace(begin, `"u"`, `"`+strings.Repeat("u", 129)+`"`, 1) + `"command":"a"}`, "uid must have only letters"},
		{"run zero", `{"uid":"u","created":"2026-05-01T08:00:00Z","command":"a"}`, "run must be 1 or more"},
		{"no time", `{"uid":"u","run":1,"command":"a"}`, "created is missing"},
		{"a relative directory", begin + `"command":"a","dir":"tmp"}`, "dir must be an absolute path"},
		{"NUL in the command", begin + `"command":"a\u0000b"}`, "NUL"},
		{"NUL in an argument", begin + `"args":["a","\u0000"]}`, "NUL"},
		{"NUL in the user", begin + `"command":"a","user":"a\u0000"}`, "NUL"},
		{"NUL in the directory", begin + `"command":"a","dir":"/\u0000"}`, "NUL"},
		{"NUL in the boot", begin + `"command":"a","bootID":"a\u0000"}`, "NUL"},
		{"NUL in a variable", begin + `"command":"a","envs":["A=\u0000"]}`, "NUL"},
		{"a user that is an option", begin + `"command":"a","user":"--help"}`, "user must not begin"},
		{"a user that is a line", begin + `"command":"a","user":"a:0:0"}`, "colons"},
		{"two users", begin + `"command":"a","user":"a\nb"}`, "line breaks"},
		{"a variable without a value", begin + `"command":"a","envs":["A=1","secret"]}`, "envs[1] does not have the form KEY=value"},
		{"a variable without a name", begin + `"command":"a","envs":["=1"]}`, "envs[0] does not have the form KEY=value"},
		{"a variable with an invalid name", begin + `"command":"a","envs":["A\n=1"]}`, "envs[0] does not have the form KEY=value"},
		{"a secret variable with an invalid name", begin + `"command":"a","secretEnvs":{"A=B":"f"}}`, `"A=B" is not the name of a variable`},
		{"a secret elsewhere", begin + `"command":"a","secretEnvs":{"A":"../order"}}`, "the file of A is not a key of a Secret"},
		{"a secret that is a directory", begin + `"command":"a","secretEnvs":{"A":"..data"}}`, "the file of A is not a key of a Secret"},
		{"a negative time", begin + `"command":"a","timeoutSeconds":-1}`, "timeoutSeconds must be from 0"},
		{"an endless grace", begin + `"command":"a","graceSeconds":99999999999}`, "graceSeconds must be from 0"},
		{"bytes that are no text", begin + "\"command\":\"a\xff\"}", "not valid UTF-8"},
		{"too much", begin + `"command":"` + strings.Repeat("a", MaxOrder) + `"}`, "at most 245760 fit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseOrder([]byte(test.order))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("expected a refusal with %q, got %v", test.want, err)
			}
		})
	}
}

func TestARefusalDoesNotRepeatValues(t *testing.T) {
	o := NewOrder("u", 1, morning())
	o.Command, o.Envs, o.User, o.Dir = "hunter2", []string{"hunter2"}, "-hunter2", "hunter2"
	o.SecretEnvs = map[string]string{"A": "hunter2/"}
	if err := o.Check(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("expected a refusal without the values, got %v", err)
	}
}

func TestAnInvalidOrderIsNotEncoded(t *testing.T) {
	o := NewOrder("u", 1, morning())
	if _, err := EncodeOrder(o); err == nil {
		t.Error("expected an order without a command to be refused")
	}
	o.Args = []string{"a", strings.Repeat("b", MaxOrder)}
	if _, err := EncodeOrder(o); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("expected a refusal of what is too long, got %v", err)
	}
}

// FuzzParseOrder checks that every accepted order is safe, and stays unchanged when it is encoded and parsed again.
func FuzzParseOrder(f *testing.F) {
	f.Add([]byte(`{"uid":"u","run":1,"created":"2026-05-01T08:00:00Z","command":"a","envs":["A=b"],"secretEnvs":{"P":"f"}}`))
	f.Add([]byte(`{"uid":"u","run":1,"created":"2026-05-01T08:00:00+02:00","forgetBefore":"2026-05-01T08:00:00.5Z","args":["a","\ud800"],"user":"0","dir":"/a"}`))
	f.Add([]byte(`{"uid":"..","run":-1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := ParseOrder(text)
		if err != nil {
			return
		}
		if strings.ContainsAny(o.UID, "/.\x00") || strings.ContainsRune(fmt.Sprint(o), 0) {
			t.Errorf("%+v was accepted", o)
		}
		again, err := EncodeOrder(o)
		if err != nil {
			return // the order may be too long, because encoding adds JSON escapes
		}
		got, err := ParseOrder([]byte(again))
		if err != nil || !cmp.Equal(got, o, cmp.Comparer(func(a, b []string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
			cmp.Comparer(func(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) })) {
			t.Errorf("%q was read as %+v, and %q, which that was encoded as, as %+v (%v)", text, o, again, got, err)
		}
	})
}
