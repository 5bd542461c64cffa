// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

type pairs = map[string]string

func TestTextBecomesKeysAndValues(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want pairs
	}{
		"nothing":                        {"", pairs{}},
		"the article's":                  {"password=88888888", pairs{"password": "88888888"}},
		"blanks around":                  {"  a = 1 \n\tb\t=\t2\t\n", pairs{"a": "1", "b": "2"}},
		"line ends of Windows":           {"a=1\r\nb=2\r\n", pairs{"a": "1", "b": "2"}},
		"comments":                       {"# a=1\n! b=2\n  #c=3\nd=4 # not a comment", pairs{"d": "4 # not a comment"}},
		"no = is no key":                 {"just text\na=1\n=2\n = \n", pairs{"a": "1"}},
		"= in a value":                   {"url=http://a/?b=c&d==", pairs{"url": "http://a/?b=c&d=="}},
		"an empty value":                 {"a=\nb= ", pairs{"a": "", "b": ""}},
		"of two lines of a key the last": {"a=1\na=2", pairs{"a": "2"}},
		"a key with dots and dashes":     {"a.b-c_D=1", pairs{"a.b-c_D": "1"}},
		"keys that are no file names":    {"a/b=1\na b=2\nä=3\na:b=4\n" + strings.Repeat("k", 254) + "=5", pairs{}},
		"the longest key":                {strings.Repeat("k", 253) + "=5", pairs{strings.Repeat("k", 253): "5"}},
		"directories":                    {".=1\n..=2\n...=3\n../x=4\n..x=5\n.x=6\nx..=7", pairs{".x": "6", "x..": "7"}},
		"the name of the whole":          {"config.properties=1\na=2", pairs{"a": "2"}},
		"unicode in values":              {"a=äöü \u2028 漢字 🙂", pairs{"a": "äöü \u2028 漢字 🙂"}},
		"a byte order mark is no key":    {"\ufeffa=1\nb=2", pairs{"b": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := config.Parse(test.text)
			same(t, "keys and values", test.want, got)
			for key := range got {
				if why := validation.IsConfigMapKey(key); len(why) > 0 {
					t.Errorf("expected only keys that Kubernetes takes, got %q: %v", key, why)
				}
			}
		})
	}
}

func TestKeysThatLookLikeCredentialsAreNamed(t *testing.T) {
	for key, want := range map[string]bool{
		"password": true, "DB_PASSWORD": true, "passwd": true, "passphrase": true, "spring.datasource.password": true, "pwd": true,
		"secret": true, "client_secret": true, "SECRET_KEY": true, "token": true, "auth-tokens": true, "api_key": true, "apikey": true,
		"AWS_SECRET_ACCESS_KEY": true, "private.key": true, "credentials": true,
		"user": false, "LEVEL": false, "tokenizer": false, "secretary": false, "password_file": false, "key": false, "keyboard": false,
	} {
		if got := len(config.SecretKeys(key+"=x")) == 1; got != want {
			t.Errorf("%s: expected to look like a credential: %v, got %v", key, want, got)
		}
	}
	same(t, "names in their order", []string{"a_token", "b_token"}, config.SecretKeys("b_token=1\nx=2\na_token=3\n#c_token=4"))
}

func TestAnotherConfigurationIsAnotherObject(t *testing.T) {
	found := map[string]string{}
	for what, m := range map[string]*customv1.MicroServiceDeploy{
		"a text": newInstance(withConfig("a=1")), "another": newInstance(withConfig("a=2")), "its comment": newInstance(withConfig("a=1\n#")),
		// Regression: a ConfigMap was kept only because a Secret of the same name was in use.
		"a Secret": newInstance(withConfig("a=1"), asSecret), "another instance": newInstance(withConfig("a=1"), of("api")),
	} {
		name := config.Declared(m).Name
		if found[name] != "" {
			t.Errorf("expected %s and %s to have objects of their own, both have %s", what, found[name], name)
		}
		found[name] = what
		if again := config.Declared(m).Name; again != name || !strings.HasPrefix(name, names.Child(m)+"-config-") {
			t.Errorf("%s: expected one name that begins with that of the instance, got %s and %s", what, name, again)
		}
	}
	if c := config.Declared(newInstance()); c != nil {
		t.Errorf("expected no object without a configuration, got %+v", c)
	}
}

func TestTheConfigurationIsAConfigMapOrASecretThatNeverChanges(t *testing.T) {
	for name, form := range map[string]option{"configmap": func(*customv1.MicroServiceDeploy) {}, "secret": asSecret} {
		m := newInstance(withConfig("# of the shop\nLEVEL=info\nlog.file=/dev/null\n"), form)
		golden.Check(t, "config-"+name+".yaml", config.Object(m, config.Declared(m)))
	}
}

func TestVariablesOfTheSpecGoBeforeThoseOfTheConfiguration(t *testing.T) {
	m := newInstance(withConfig("A=config\nB=config\nnot-a-variable=1\n9=2"))
	m.Spec.Envs = []corev1.EnvVar{{Name: "A", Value: "spec"}, {Name: "C", Value: "spec"}}
	same(t, "environment", []string{"A=spec", "C=spec", "B from key B", "PORT=8080"}, environmentOf(m))
	m.Spec.Envs = nil
	m.Spec.Config = "PORT=9"
	same(t, "PORT of the configuration", []string{"PORT from key PORT"}, environmentOf(m))
	m.Spec.Config, m.Spec.Envs = "", []corev1.EnvVar{{Name: "PORT", Value: "7"}}
	same(t, "PORT of the spec", []string{"PORT=7"}, environmentOf(m))
	m.Spec.Envs, m.Spec.Ports = nil, http
	same(t, "no PORT where the spec names ports", []string(nil), environmentOf(m))
}

func environmentOf(m *customv1.MicroServiceDeploy) []string {
	c := corev1ac.Container()
	build.AddEnvironment(c, m, config.Declared(m))
	var out []string
	for _, e := range c.Env {
		if e.ValueFrom != nil {
			out = append(out, fmt.Sprintf("%s from key %s", *e.Name, *e.ValueFrom.ConfigMapKeyRef.Key))
		} else {
			out = append(out, *e.Name+"="+*e.Value)
		}
	}
	return out
}

func TestTheHashOfASecretDiffersWithItsContents(t *testing.T) {
	seen := map[string]bool{}
	for _, data := range []map[string][]byte{
		nil, {"a": nil}, {"a": []byte("b")}, {"a": []byte("b"), "c": []byte("d")}, {"a": []byte("b\"\nc=d")}, {"a=b": []byte("")}, {"ac": []byte("d")},
	} {
		if h := config.HashOf(data); seen[h] {
			t.Errorf("expected %q to have a hash of its own, got %s twice", data, h)
		} else {
			seen[h] = true
		}
	}
}

// Users who may read the status and events are not necessarily allowed to read the configuration.
func TestNoValueOfAConfigurationIsEverReportedInTheStatus(t *testing.T) {
	const value = "hunter2-hunter2"
	for name, options := range map[string][]option{
		"fresh": nil, "bad image": {withImage(placeholder)}, "idle": {idle}, "rolled back to nothing": {backTo(9)}, "as Secret": {asSecret},
	} {
		m := newInstance(append(options, withConfig("password="+value+"\n"+value+"\n"+value+"=x"))...)
		f := observed(m, 1)
		reported(m, f, kit.Outcome{})
		raw, err := json.Marshal(m.Status)
		if err != nil {
			t.Fatal(err)
		}
		// The status may contain keys of the configuration. opcrew cannot know whether a key itself is secret.
		if text := strings.ReplaceAll(string(raw), "("+value+", password)", ""); strings.Contains(text, value) {
			t.Errorf("%s: expected no value in the status, got %s", name, text)
		}
	}
}

// Regression: comparing an environment of many thousand variables took tens of seconds.
func TestTheEnvironmentIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintf(&text, "KEY_%03d=x\n", i)
	}
	m := newInstance(withConfig(text.String()))
	c := config.Declared(m)
	if len(c.Keys) != config.MaxVariables || c.Keys[0] != "KEY_000" {
		t.Errorf("expected the first %d keys, got %d from %q", config.MaxVariables, len(c.Keys), c.Keys[0])
	}
	var conditions []metav1.Condition
	reportConfig(condition.Set{Conditions: &conditions}, m)
	if len(conditions) != 1 || conditions[0].Reason != customv1.ReasonTooManyKeys {
		t.Errorf("expected a word of it, got %+v", conditions)
	}
}

func TestATextWithoutAnyVariableIsMeantToBeReadWhole(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		"just words\nand more\n": nil,
		"a=1\n\n# b\n! c\n":      nil,
		"a=1\n..=2\nx y=3\n":     {"2", "3"},
	} {
		if got := config.IgnoredLines(text); !slices.Equal(got, want) {
			t.Errorf("%q: expected the lines %v to be reported, got %v", text, want, got)
		}
	}
}
