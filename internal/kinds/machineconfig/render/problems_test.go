// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
)

// wrong is a config that cannot be applied, and a part of the message.
type wrong struct {
	name, config string
	kind         render.Kind
	want         string
}

var wrongs = []wrong{
	{"disks", "storage: {disks: [{device: /dev/sda}]}", render.Unsupported, "spec.config.storage.disks: opcrew does not partition or format disks; remove the section"},
	{"file systems", "storage: {filesystems: [{device: /dev/sda, format: ext4, path: /var}]}", render.Unsupported, "spec.config.storage.filesystems: "},
	{"RAID", "storage: {raid: [{name: a, level: raid1, devices: [/dev/sda]}]}", render.Unsupported, "spec.config.storage.raid: "},
	{"encryption", "storage: {luks: [{name: a, device: /dev/sda}]}", render.Unsupported, "spec.config.storage.luks: "},
	{"groups", "passwd: {groups: [{name: a}]}", render.Unsupported, "spec.config.passwd.groups: opcrew creates no groups"},
	{"a new user", "passwd: {users: [{name: core}, {name: a, uid: 1000}]}", render.Unsupported, "spec.config.passwd.users[1].uid: opcrew configures only users that exist"},
	{"a user's shell", "passwd: {users: [{name: core, shell: /bin/sh}]}", render.Unsupported, "spec.config.passwd.users[0].shell: "},
	{"a user's groups", "passwd: {users: [{name: core, groups: [wheel]}]}", render.Unsupported, "spec.config.passwd.users[0].groups: "},
	{"a remote file", "storage: {files: [{path: /a, contents: {source: \"https://u:p@example.com/a\"}}]}", render.Unsupported, `spec.config.storage.files[0].contents.source: opcrew fetches no URLs such as "example.com/a"; write the contents as a data URL`},
	{"a remote file to append", "storage: {files: [{path: /a, append: [{source: \"data:,\"}, {source: \"s3://b/a\"}]}]}", render.Unsupported, "files[0].append[1].source: opcrew fetches no URLs"},
	{"another config", "ignition: {version: 3.5.0, config: {merge: [{source: \"https://example.com/a\"}]}}", render.Unsupported, "spec.config.ignition.config.merge: opcrew fetches no other configs"},
	{"a proxy", "ignition: {version: 3.5.0, proxy: {httpProxy: \"http://p\"}}", render.Unsupported, "spec.config.ignition.proxy: "},
	{"timeouts", "ignition: {version: 3.5.0, timeouts: {httpTotal: 1}}", render.Unsupported, "spec.config.ignition.timeouts: "},
	{"a version that is too new", "ignition: {version: 3.6.0}", render.Invalid, "ignition.version: opcrew reads the versions 3.0.0 to 3.5.0 and 2.2.0, not 3.6.0: write version: 3.5.0"},
	{"an experimental version", "ignition: {version: 3.5.0-experimental}", render.Invalid, "not 3.5.0-experimental"},
	{"a version that is too old", "ignition: {version: 1.0.0}", render.Invalid, "not 1.0.0"},
	{"version 2.4", "ignition: {version: 2.4.0}", render.Invalid, "not a valid config of version 2"},
	{"no version", "ignition: {}\na: b", render.Invalid, "ignition.version is missing or is not a version: write ignition: {version: 3.5.0}"},
	{"a text instead of an object", "storage: none", render.Invalid, "cannot unmarshal string"},
	{"a relative path", "storage: {files: [{path: etc/a}]}", render.Invalid, "spec.config.storage.files[0].path: path not absolute: write an absolute path"},
	{"a path that is not clean", "storage: {files: [{path: /etc/../a}]}", render.Invalid, "path is not fully simplified: remove '.'"},
	{"the root", "storage: {directories: [{path: /}]}", render.Invalid, "it is the root of the host"},
	{"a path in /proc", "storage: {files: [{path: /proc/sys/net/ipv4/ip_forward}]}", render.Invalid, "for a kernel parameter write a file in /etc/sysctl.d"},
	{"opcrew's folder", "storage: {files: [{path: /var/lib/opcrew/machine/ledger}]}", render.Invalid, "it belongs to opcrew"},
	{"a path with a line break", "storage: {files: [{path: \"/etc/a\\nb\"}]}", render.Invalid, "remove the control characters"},
	{"a long name", "storage: {files: [{path: /etc/" + strings.Repeat("a", 256) + "}]}", render.Invalid, "write at most 255 bytes between two slashes"},
	{"a path twice", "storage: {files: [{path: /a}], links: [{path: /a, target: /b}]}", render.Invalid, "duplicate entry defined: another entry has the same path"},
	{"a file below a link", "storage: {files: [{path: /a/b}], links: [{path: /a, target: /c}]}", render.Invalid, "file path includes link in config"},
	{"a file below a file", "storage: {files: [{path: /a}, {path: /a/b}]}", render.Invalid, "/a/b is below the file /a of the same configuration: remove one of them (/a is in MachineConfig test)"},
	{"an owner by number and name", "storage: {files: [{path: /a, user: {id: 1, name: b}}]}", render.Invalid, "cannot set both id and name: remove id or name"},
	{"a negative owner", "storage: {files: [{path: /a, user: {id: -1}}]}", render.Invalid, "-1 is not the number of a user or group"},
	{"an owner's name with a colon", "storage: {files: [{path: /a, group: {name: \"a:b\"}}]}", render.Invalid, `"a:b" is not the name of a user or group`},
	{"a mode that is too high", "storage: {files: [{path: /a, mode: 4096}]}", render.Invalid, "illegal file mode: write at most 4095"},
	{"overwrite without a source", "storage: {files: [{path: /a, overwrite: true}]}", render.Invalid, "add contents.source, or remove overwrite"},
	{"a link without a target", "storage: {links: [{path: /a}]}", render.Invalid, "link target is required: add target"},
	{"a bad data URL", "storage: {files: [{path: /a, contents: {source: \"data:;base64,###\"}}]}", render.Invalid, "spec.config.storage.files[0].contents.source: "},
	{"a wrong hash", "storage: {files: [{path: /a, contents: {source: \"data:,a\", verification: {hash: sha256-" + strings.Repeat("0", 64) + "}}}]}", render.Invalid, "verification.hash does not match: the unpacked contents have sha256-ca978112"},
	{"contents that are not compressed", "storage: {files: [{path: /a, contents: {source: \"data:,a\", compression: gzip}}]}", render.Invalid, "the contents are not in gzip format"},
	{"another compression", "storage: {files: [{path: /a, contents: {source: \"data:,a\", compression: xz}}]}", render.Invalid, "invalid compression method: write gzip"},
	{"a reference without a key", "storage: {files: [{path: /a, contents: {source: \"secret://infra/ntp\"}}]}", render.Invalid, "does not name a key of a Secret: write secret://<namespace>/<name>/<key>"},
	{"a reference in opcrew's own form", "storage: {files: [{path: /a, contents: {source: \"data:application/vnd.opcrew.secret,infra/ntp/keys\"}}]}", render.Invalid, "is reserved for opcrew"},
	{"a unit without a suffix", "systemd: {units: [{name: a}]}", render.Invalid, "systemd.units[0].name: "},
	{"the unit of the machine agent", "systemd: {units: [{name: opcrew-machine.service, enabled: false}]}", render.Invalid, "is the machine agent itself"},
	{"a unit's name with a slash", "systemd: {units: [{name: ../../a.service}]}", render.Invalid, "is not the name of a unit"},
	{"a drop-in's name with a slash", "systemd: {units: [{name: a.service, dropins: [{name: ../b.conf}]}]}", render.Invalid, "is not the name of a drop-in"},
	{"a drop-in without .conf", "systemd: {units: [{name: a.service, dropins: [{name: b}]}]}", render.Invalid, "end the name in .conf"},
	{"a unit that is not valid", "systemd: {units: [{name: a.service, contents: \"[Unit\"}]}", render.Invalid, "spec.config.systemd.units[0].contents"},
	{"a unit that is masked and enabled", "systemd: {units: [{name: a.service, mask: true, enabled: true}]}", render.Invalid, "unit a.service is masked and enabled: remove mask or enabled"},
	{"a unit and a file with the same path", "systemd: {units: [{name: a.service, contents: \"[Service]\"}]}\nstorage: {files: [{path: /etc/systemd/system/a.service}]}", render.Invalid, "systemd.units writes the same file"},
	{"a password hash with a colon", "passwd: {users: [{name: core, passwordHash: \"a:b\"}]}", render.Invalid, "a password hash is one line without ':'"},
	{"a kernel argument to add and to remove", "kernelArguments: {shouldExist: [\"a b\"], shouldNotExist: [b]}", render.Invalid, "b is also an argument to add"},
	{"a kernel argument with quotes", "kernelArguments: {shouldExist: [\"a=\\\"b c\\\"\"]}", render.Unsupported, "which boot loaders do not pass on unchanged"},
}

func TestAConfigThatCannotBeAppliedIsRefusedWithAdvice(t *testing.T) {
	for _, w := range wrongs {
		t.Run(w.name, func(t *testing.T) {
			_, err := render.Render([]mcfgv1.MachineConfig{one(t, "test", w.config)})
			expect(t, err, w.kind, w.want)
		})
	}
}

func TestAMessageSaysNothingAboutTheDataOfASecret(t *testing.T) {
	var messages []string
	for what, contents := range map[string]string{
		"another hash":           `verification: {hash: sha256-` + strings.Repeat("0", 64) + `}`,
		"data that is not gzip":  `compression: gzip`,
		"data that is too large": ``,
	} {
		rendered, err := render.Render([]mcfgv1.MachineConfig{one(t, "a", `storage: {files: [{path: /a, contents: {source: "secret://infra/ntp/keys", `+contents+`}}]}`)})
		if err != nil {
			t.Fatal(err)
		}
		data := "hunter2"
		if contents == "" {
			data = strings.Repeat("x", render.MaxUnpacked+1)
		}
		_, _, err = rendered.Complete("p", func(render.SecretKey) ([]byte, bool) { return []byte(data), true }, digest)
		expect(t, err, render.Invalid, "the data of secret://infra/ntp/keys cannot be used")
		if messages = append(messages, fmt.Sprint(err)); messages[0] != messages[len(messages)-1] {
			t.Errorf("%s: expected the same message in all cases, got %v after %s", what, err, messages[0])
		}
	}
}

func TestTheSizeOfAConfigurationWithSecretsIsNotShown(t *testing.T) {
	random := make([]byte, 1<<20)
	_, _ = rand.Read(random)
	rendered, err := render.Render([]mcfgv1.MachineConfig{one(t, "a", `storage: {files: [{path: /a, contents: {source: "secret://infra/ntp/keys"}}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = rendered.Complete("p", func(render.SecretKey) ([]byte, bool) { return random, true }, digest)
	expect(t, err, render.TooLarge, "the configuration with the data of its Secrets is too large")
}

func expect(t *testing.T, err error, kind render.Kind, want string) {
	t.Helper()
	var problems render.Problems
	if !errors.As(err, &problems) || !problems.Has(kind) || !strings.Contains(err.Error(), want) {
		t.Errorf("expected a problem of kind %s with %q, got %v", kind, want, err)
	}
}

func TestFieldsOfAMachineConfigThatOpcrewDoesNotImplementAreRefused(t *testing.T) {
	for want, set := range map[string]func(*mcfgv1.MachineConfigSpec){
		"MachineConfig a: spec.osImageURL: opcrew does not replace operating systems": func(s *mcfgv1.MachineConfigSpec) { s.OSImageURL = "quay.io/a" },
		"spec.baseOSExtensionsContainerImage: ":                                       func(s *mcfgv1.MachineConfigSpec) { s.BaseOSExtensionsContainerImage = "quay.io/a" },
		"spec.extensions: opcrew installs no packages":                                func(s *mcfgv1.MachineConfigSpec) { s.Extensions = []string{"usbguard"} },
		"spec.fips: opcrew cannot switch a running host to FIPS mode":                 func(s *mcfgv1.MachineConfigSpec) { s.FIPS = true },
		"spec.kernelType: opcrew installs no kernels; write default":                  func(s *mcfgv1.MachineConfigSpec) { s.KernelType = "realtime" },
	} {
		mc := one(t, "a", "")
		set(&mc.Spec)
		_, err := render.Render([]mcfgv1.MachineConfig{mc})
		expect(t, err, render.Unsupported, want)
	}
	plain := one(t, "a", "")
	plain.Spec.KernelType = "default"
	if _, err := render.Render([]mcfgv1.MachineConfig{plain}); err != nil {
		t.Errorf("expected the default kernel to be accepted, got %v", err)
	}
}

func TestMachineConfigsThatContradictEachOtherAreNamed(t *testing.T) {
	_, err := render.Render([]mcfgv1.MachineConfig{
		one(t, "a", "storage: {links: [{path: /srv/x, target: /y}]}"), one(t, "b", "storage: {files: [{path: /srv/x/z}]}"),
	})
	expect(t, err, render.Invalid, "the merged configuration: spec.config.storage.files[0]: file path includes link in config")
	expect(t, err, render.Invalid, "(/srv/x/z is in MachineConfig b)")
}

func TestALaterMachineConfigMayReplaceAFileByALink(t *testing.T) {
	rendered, err := render.Render([]mcfgv1.MachineConfig{
		one(t, "a", "storage: {files: [{path: /srv/x, contents: {source: \"data:,a\"}}]}"), one(t, "b", "storage: {links: [{path: /srv/x, target: /y}]}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	host, _, err := rendered.Complete("p", values, digest)
	if err != nil || len(host.Files) != 0 || len(host.Links) != 1 {
		t.Errorf("expected only the link, got %v, %v", host, err)
	}
}

func TestAPoolWithoutMachineConfigsHasAnEmptyConfiguration(t *testing.T) {
	for _, configs := range [][]mcfgv1.MachineConfig{nil, {labelled("a", "worker")}} {
		rendered, err := render.Render(configs)
		if err != nil {
			t.Fatal(err)
		}
		host, _, err := rendered.Complete("p", values, digest)
		if err != nil || !strings.HasPrefix(host.Name, "rendered-p-") || len(host.Files) != 0 {
			t.Errorf("expected an empty configuration with a name, got %v, %v", host, err)
		}
	}
}

func TestALargeConfigurationWarnsBeforeItIsRefused(t *testing.T) {
	sized := func(size int) (*render.Rendered, error) {
		return render.Render([]mcfgv1.MachineConfig{one(t, "a", "storage: {files: [{path: /a, contents: {source: \"data:,"+strings.Repeat("a", size)+"\"}}]}")})
	}
	if r, err := sized(render.MaxSize/100*79 - 200); err != nil || len(r.Warnings) != 0 {
		t.Errorf("expected no warning below 80 %%, got %v", err)
	}
	r, err := sized(render.MaxSize / 100 * 81)
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "81 % of the 1572864 that fit") {
		t.Fatalf("expected one warning from 80 %%, got %v, %v", r, err)
	}
	_, err = sized(render.MaxSize)
	expect(t, err, render.TooLarge, "at most 1572864 fit into a MachineConfig: compress large files")
}

func TestASmallFileCannotUnpackToFillTheMemory(t *testing.T) {
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	zeros := make([]byte, 1<<20)
	for range 12 {
		_, _ = writer.Write(zeros)
	}
	_ = writer.Close()
	source := "data:;base64," + base64.StdEncoding.EncodeToString(packed.Bytes())
	_, err := render.Render([]mcfgv1.MachineConfig{one(t, "a", fmt.Sprintf("storage: {files: [{path: /a, contents: {compression: gzip, source: %q}}]}", source))})
	expect(t, err, render.TooLarge, "the unpacked contents of all files have more than 11534336 bytes")
}

func TestWhatIgnitionOnlyWarnsOfIsAWarning(t *testing.T) {
	r, err := render.Render([]mcfgv1.MachineConfig{one(t, "a", "storage: {files: [{path: /a, mode: 2541, filesystem: root}]}\nsystemd: {units: [{name: a.service, enabled: true, contents: \"[Service]\"}]}")})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(r.Warnings, "\n")
	if !strings.Contains(all, "MachineConfig a: spec.config.storage.files[0].filesystem: unused key filesystem") || !strings.Contains(all, "has no install section") {
		t.Errorf("expected warnings about a former field and about a unit without an Install section, got:\n%s", all)
	}
	if strings.Contains(all, "setuid") {
		t.Errorf("expected no warning about a mode that hosts get, got:\n%s", all)
	}
}

func TestAMisspelledFieldIsAnErrorBecauseTheFileWouldBeEmpty(t *testing.T) {
	_, err := render.Render([]mcfgv1.MachineConfig{one(t, "a", "storage: {files: [{path: /etc/ssh/sshd_config, contents: {inline: hello}}]}")})
	expect(t, err, render.Invalid, "spec.config.storage.files[0].contents.inline: unused key inline: Ignition has no such field here")
	_, err = render.Render([]mcfgv1.MachineConfig{one(t, "a", "storage: {fils: []}")})
	expect(t, err, render.Invalid, "spec.config.storage.fils: unused key fils")
}
