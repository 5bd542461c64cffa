// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"strings"
	"testing"
)

func TestAWrongConfigurationIsExplained(t *testing.T) {
	yes, bad, colon, mode, id := true, "\xff", "a:b", uint32(0o10000), 1
	for _, test := range []struct {
		name, want string
		change     func(c *Config)
	}{
		{"nothing", "", func(*Config) {}},
		{"relative path", "must be absolute", func(c *Config) { c.Files[0].Path = "etc/x" }},
		{"path with dots", "must be absolute", func(c *Config) { c.Files[0].Path = "/etc/../x" }},
		{"the root", "must be absolute", func(c *Config) { c.Directories[0].Path = "/" }},
		{"line break", "line break", func(c *Config) { c.Files[0].Path = "/etc/a\nb" }},
		{"long name", "too long", func(c *Config) { c.Files[0].Path = "/etc/" + strings.Repeat("a", 256) }},
		{"below proc", "no configuration can change", func(c *Config) { c.Files[0].Path = "/proc/sys/x" }},
		{"the agent's own state", "no configuration can change", func(c *Config) { c.Files[0].Path = StateDirectory + "/ledger" }},
		{"twice", "declared twice", func(c *Config) { c.Files[0].Path = "/etc/c" }},
		{"a unit as file", "declared twice", func(c *Config) { c.Files[0].Path = "/etc/systemd/system/x@1.service" }},
		{"below a link", "is below /etc/c", func(c *Config) { c.Files[0].Path = "/etc/c/x" }},
		{"below a file", "is below /etc/a/b", func(c *Config) { c.Links[0].Path = "/etc/a/b/c/d" }},
		{"mode", "07777", func(c *Config) { c.Files[0].Mode = &mode }},
		{"id and name", "not both", func(c *Config) { c.Files[0].User = Principal{ID: &id, Name: "x"} }},
		{"name of a user", "not the name", func(c *Config) { c.Files[0].User.Name = "a:b" }},
		{"no target", "target of a link", func(c *Config) { c.Links[0].Target = "" }},
		{"hard link to itself", "itself", func(c *Config) { c.Links[1].Target = c.Links[1].Path }},
		{"relative hard link", "must be absolute", func(c *Config) { c.Links[1].Target = "b" }},
		{"unit without type", "such as .service", func(c *Config) { c.Units[0].Name = "x" }},
		{"unit outside", "such as .service", func(c *Config) { c.Units[0].Name = "../x.service" }},
		{"unit twice", "unit x@1.service is declared twice", func(c *Config) { c.Units = append(c.Units, Unit{Name: "x@1.service"}) }},
		{"masked and enabled", "masked and enabled", func(c *Config) { c.Units[0].Mask = &yes }},
		{"drop-in", "end in .conf", func(c *Config) { c.Units[0].DropIns[0].Name = "../a.conf" }},
		{"unit contents", "not valid UTF-8", func(c *Config) { c.Units[0].Contents = &bad }},
		{"user", "name of a user", func(c *Config) { c.Users[0].Name = "-x" }},
		{"password", "no colon", func(c *Config) { c.Users[0].PasswordHash = &colon }},
		{"key with two lines", "one line", func(c *Config) { c.Users[0].SSHAuthorizedKeys[0] = "a\nb" }},
		{"comment as key", "one line", func(c *Config) { c.Users[0].SSHAuthorizedKeys[0] = "# opcrew" }},
		{"argument with shell", "must have no spaces", func(c *Config) { c.KernelArguments[0] = "a=$(id)" }},
		{"argument both ways", "both required and forbidden", func(c *Config) { c.RemovedKernelArguments[0] = "a=b" }},
	} {
		c := full()
		test.change(&c)
		err := c.Check()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: expected an error with %q, got %v", test.name, test.want, err)
		}
	}
}
