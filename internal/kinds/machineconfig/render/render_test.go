// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// secrets are the Secrets that the tests use.
var secrets = map[render.SecretKey]string{
	{Namespace: "infra", Name: "ntp", Key: "keys"}: "1 SHA256 HEX:00",
	{Namespace: "infra", Name: "ca", Key: "a.pem"}: "certificate\n",
}

func values(key render.SecretKey) ([]byte, bool) {
	data, ok := secrets[key]
	return []byte(data), ok
}

func digest(data []byte) string {
	sum := sha256.Sum256(append([]byte("salt"), data...))
	return hex.EncodeToString(sum[:])
}

// read returns the MachineConfigs in a file.
func read(t *testing.T, file string) []mcfgv1.MachineConfig {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parseAll(t, content)
}

func parseAll(t *testing.T, content []byte) []mcfgv1.MachineConfig {
	t.Helper()
	var out []mcfgv1.MachineConfig
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var mc mcfgv1.MachineConfig
		if err := decoder.Decode(&mc); err != nil {
			return out
		}
		out = append(out, mc)
	}
}

// one returns a MachineConfig with an Ignition config of version 3.5.0, written as YAML without its section ignition.
func one(t *testing.T, name, config string) mcfgv1.MachineConfig {
	t.Helper()
	raw, err := yaml.ToJSON([]byte("ignition: {version: 3.5.0}\n" + config))
	if err != nil {
		t.Fatal(err)
	}
	mc := mcfgv1.MachineConfig{}
	mc.Name, mc.Spec.Config.Raw = name, raw
	return mc
}

// result is what a golden file shows.
type result struct {
	Sources  []string                 `json:"sources"`
	Warnings []string                 `json:"warnings,omitempty"`
	Name     string                   `json:"name"`
	Spec     mcfgv1.MachineConfigSpec `json:"spec"`
	Host     hostconfig.Config        `json:"host"`
	Texts    map[string]string        `json:"texts,omitempty"`
	Secrets  []string                 `json:"secrets,omitempty"`
}

func TestMachineConfigsOfTheDocumentationRenderAsInTheGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("expected files with MachineConfigs in testdata, got %v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".in.yaml")
		t.Run(name, func(t *testing.T) {
			rendered, err := render.Render(read(t, file))
			if err != nil {
				t.Fatal(err)
			}
			host, encoded, err := rendered.Complete("worker", values, digest)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := hostconfig.Parse(encoded); err != nil || !equal(back, host) {
				t.Errorf("expected the encoding to be the configuration, got %v, %v", back, err)
			}
			golden.Check(t, name+".out.yaml", newResult(rendered, host))
		})
	}
}

func newResult(r *render.Rendered, host hostconfig.Config) result {
	out := result{Sources: r.Sources, Warnings: r.Warnings, Name: host.Name, Spec: r.Spec, Host: host, Texts: map[string]string{}}
	for i, file := range host.Files {
		if file.Contents != nil {
			out.Texts[file.Path] = string(*file.Contents)
		}
		for j, text := range file.Append {
			out.Texts[fmt.Sprintf("%s append %d", file.Path, j)] = string(text)
		}
		host.Files[i].Contents, host.Files[i].Append = nil, nil
	}
	for _, use := range r.Secrets {
		out.Secrets = append(out.Secrets, fmt.Sprintf("%s for %s (append %d)", use.SecretKey, use.Path, use.Append))
	}
	return out
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

func TestTheNameDependsOnTheContentAlone(t *testing.T) {
	file := func(name, source, extra string) []mcfgv1.MachineConfig {
		return []mcfgv1.MachineConfig{one(t, name, "storage: {files: [{path: /etc/a, contents: {source: \""+source+"\"}"+extra+"}]}")}
	}
	base := nameOf(t, "p", file("a", "data:,x", ""))
	if !strings.HasPrefix(base, "rendered-p-") || len(base) != len("rendered-p-")+32 {
		t.Errorf("expected a name such as rendered-p-<32 digits>, got %s", base)
	}
	for what, other := range map[string][]mcfgv1.MachineConfig{
		"another encoding of the same content":     file("a", "data:;base64,eA==", ""),
		"another name of the MachineConfig":        file("b", "data:,x", ""),
		"a default that is written out":            file("a", "data:,x", ", overwrite: true"),
		"the same content from two MachineConfigs": append(file("a", "data:,x", ""), file("b", "data:,x", "")...),
	} {
		if got := nameOf(t, "p", other); got != base {
			t.Errorf("%s: expected the same name %s, got %s", what, base, got)
		}
	}
	for what, other := range map[string][]mcfgv1.MachineConfig{
		"another content": file("a", "data:,y", ""),
		"another mode":    file("a", "data:,x", ", mode: 384"),
		"another owner":   file("a", "data:,x", ", user: {id: 1}"),
		"a Secret":        file("a", "secret://infra/ntp/keys", ""),
	} {
		if got := nameOf(t, "p", other); got == base {
			t.Errorf("%s: expected another name than %s", what, base)
		}
	}
}

func nameOf(t *testing.T, pool string, configs []mcfgv1.MachineConfig) string {
	t.Helper()
	rendered, err := render.Render(configs)
	if err != nil {
		t.Fatal(err)
	}
	host, _, err := rendered.Complete(pool, values, digest)
	if err != nil {
		t.Fatal(err)
	}
	return host.Name
}

func TestTheDigestOfAConfigurationDoesNotTellItsSecrets(t *testing.T) {
	configs := []mcfgv1.MachineConfig{one(t, "a", `storage: {files: [{path: /etc/a, contents: {source: "secret://infra/ntp/keys"}}]}`)}
	rendered, err := render.Render(configs)
	if err != nil {
		t.Fatal(err)
	}
	host, encoded, err := rendered.Complete("p", values, digest)
	if err != nil {
		t.Fatal(err)
	}
	guess := host
	guess.Salt = "" // orders show the digest and the name, and the rest but the salt can be guessed
	text, err := hostconfig.Encode(guess)
	if err != nil || hostconfig.Digest(text) == hostconfig.Digest(encoded) || strings.Contains(host.Name, host.Salt) {
		t.Errorf("expected a guess of the Secret not to have the digest of the configuration (%v)", err)
	}
	if again, _, _ := rendered.Complete("p", values, digest); again.Salt != host.Salt {
		t.Error("expected the same configuration each time")
	}
}

func TestTheDataOfASecretIsOnlyInTheConfigurationOfTheHost(t *testing.T) {
	configs := []mcfgv1.MachineConfig{one(t, "a", `storage: {files: [{path: /etc/a, contents: {source: "secret://infra/ntp/keys"}}]}`)}
	rendered, err := render.Render(configs)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(rendered.Spec.Config.Raw, []byte(`"source":"secret://infra/ntp/keys"`)) {
		t.Errorf("expected the merged MachineConfig to refer to the Secret, got %s", rendered.Spec.Config.Raw)
	}
	first := nameOf(t, "p", configs)
	key := render.SecretKey{Namespace: "infra", Name: "ntp", Key: "keys"}
	defer func(before string) { secrets[key] = before }(secrets[key])
	secrets[key] = "changed"
	if nameOf(t, "p", configs) == first {
		t.Error("expected another name when the Secret changes, because hosts must get the new data")
	}
	delete(secrets, key)
	_, _, err = rendered.Complete("p", values, digest)
	var problems render.Problems
	if !errors.As(err, &problems) || !problems.Has(render.Missing) || !strings.Contains(err.Error(), "Secret ntp in namespace infra") {
		t.Errorf("expected an error that names the missing Secret, got %v", err)
	}
}
