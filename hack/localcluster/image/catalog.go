// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"slices"
	"strings"
)

// PauseTag is the sandbox image that the nodes' container runtime is told to
// use: the name and version that Kubernetes 1.36 itself names.
const PauseTag = "registry.k8s.io/pause:3.10.2"

// Pause is the sandbox image, made from the program cmd/pause.
func Pause(binary string) BinaryImage {
	return BinaryImage{
		Tags:     []string{PauseTag},
		Binaries: []string{binary + "=/pause"},
		Config:   Config{User: "65535:65535"},
	}
}

// ShellTag is a name of the shell image that documentation and add-ons use. It
// is true for Debian's suite in its recipe.
const ShellTag = "busybox:1.35"

// debian is the suite that the versions below are of.
const debian = "bookworm"

// Recipes are the images that are made of Debian packages, under the names
// that upstream gives them. To add one, add it here.
func Recipes() []Recipe {
	return []Recipe{busybox(), memcached(), nginx()}
}

// FindRecipe returns the recipe of that name.
func FindRecipe(name string) (Recipe, error) {
	recipes := Recipes()
	i := slices.IndexFunc(recipes, func(r Recipe) bool { return r.Name == name })
	if i < 0 {
		return Recipe{}, fmt.Errorf("no image %q is known; there are: %s", name, strings.Join(recipeNames(), ", "))
	}
	return recipes[i], nil
}

func recipeNames() []string {
	var names []string
	for _, recipe := range Recipes() {
		names = append(names, recipe.Name)
	}
	return names
}

// Default is the recipe that every new cluster gets: a shell for examples and
// for the helper pods of volumes.
func Default() Recipe { return busybox() }

// busybox has a shell, nslookup, nc, httpd, nsenter and a wget for plain HTTP.
// Debian's static build of wget dies of its own option -T (segmentation fault,
// exit code 139); `timeout 5 wget -q -O- URL` does the same and works.
func busybox() Recipe {
	return Recipe{
		Name:     "busybox",
		Summary:  "a shell and small tools (its wget crashes with -T: use `timeout 5 wget`)",
		Suite:    debian,
		Packages: []string{"busybox-static"},
		Tags:     []string{"busybox:{version}", "busybox:{minor}"},
		Applets:  "/bin/busybox",
		Config:   Config{Cmd: []string{"sh"}},
	}
}

func memcached() Recipe {
	return Recipe{
		Name:     "memcached",
		Summary:  "memcached as Debian builds it",
		Suite:    "trixie",
		Packages: []string{"memcached"},
		Without:  []string{"adduser", "lsb-base", "perl", "debconf", "sysvinit-utils", "init-system-helpers"},
		Tags:     []string{"memcached:{version}"},
		Accounts: []string{"memcache:x:11211:11211:memcache:/nonexistent:/usr/sbin/nologin"},
		// It refuses to run as root without being told a user.
		Config: Config{Entrypoint: []string{"memcached"}, User: "11211:11211"},
	}
}

// nginx serves /usr/share/nginx/html at port 80, as upstream's image does: a master that is
// root, and workers that are not.
func nginx() Recipe {
	return Recipe{
		Name:     "nginx",
		Summary:  "nginx as Debian builds it, with a page to serve",
		Suite:    "trixie",
		Packages: []string{"nginx"},
		Without:  []string{"adduser", "iproute2", "lsb-base", "perl", "debconf", "sysvinit-utils", "init-system-helpers"},
		Tags:     []string{"nginx:{version}", "nginx:{minor}"},
		Accounts: []string{"www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin"},
		Files:    map[string]string{"/etc/nginx/nginx.conf": nginxConf},
		// SIGTERM would end it in the middle of an answer.
		Config: Config{Entrypoint: []string{"nginx", "-g", "daemon off;"}, StopSignal: "SIGQUIT"},
	}
}

const nginxConf = `user www-data;
worker_processes 1;
pid /tmp/nginx.pid;
error_log /dev/stderr warn;
events { worker_connections 512; }
http {
  include /etc/nginx/mime.types;
  access_log off;
  server {
    listen 80;
    root /usr/share/nginx/html;
    index index.html;
  }
}
`
