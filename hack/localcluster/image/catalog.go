// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"slices"
	"strings"
)

// PauseTag names the sandbox image of the nodes' container runtime. Kubernetes 1.37 uses this name and version.
const PauseTag = "registry.k8s.io/pause:3.10.2"

// Pause describes the sandbox image. binary is the program that is built from cmd/pause.
func Pause(binary string) BinaryImage {
	return BinaryImage{
		Tags:     []string{PauseTag},
		Binaries: []string{binary + "=/pause"},
		Config:   Config{User: "65535:65535"},
	}
}

// ShellTag is the name of the image with a shell that documentation and add-ons use. Its version is the version of
// busybox in the recipe's Debian suite.
const ShellTag = "busybox:1.35"

// debian is the Debian suite that provides most of the images below.
const debian = "bookworm"

// trixie is the Debian suite after bookworm, for packages that are too old in bookworm.
const trixie = "trixie"

// forky is the Debian suite after trixie.
const forky = "forky"

// adduser and initHelpers are packages that create accounts and services during installation. Images leave them out,
// since recipes list the accounts, and images run no init.
const (
	adduser     = "adduser"
	initHelpers = "init-system-helpers"
)

// Recipes returns the images that are built from Debian packages, under their upstream names. Add new images here.
func Recipes() []Recipe {
	return []Recipe{busybox(), etcd(), memcached(), nginx(), redis(), redis8(), valkey(), valkey9(), sshClient(), sshManager(), sshExtra()}
}

// FindRecipe returns the recipe with that name.
func FindRecipe(name string) (Recipe, error) {
	recipes := Recipes()
	i := slices.IndexFunc(recipes, func(r Recipe) bool { return r.Name == name })
	if i < 0 {
		return Recipe{}, fmt.Errorf("there is no image %q; the images are: %s", name, strings.Join(recipeNames(), ", "))
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

// Default returns the recipe of the image that every new cluster gets. It has a shell, for examples in the
// documentation and for the helper pods that provision volumes.
func Default() Recipe { return busybox() }

// busybox returns an image with a shell, nslookup, nc, httpd, nsenter and wget without TLS. Debian's static wget
// crashes with option -T (exit code 139); use `timeout 5 wget -q -O- URL` instead.
func busybox() Recipe {
	return Recipe{
		Name:     "busybox",
		Summary:  "a shell and small tools (its wget crashes with -T: use `timeout 5 wget`)",
		Suite:    debian,
		Series:   "1.35",
		Packages: []string{"busybox-static"},
		Tags:     []string{"busybox:{version}", "busybox:{minor}"},
		Applets:  "/bin/busybox",
		Config:   Config{Cmd: []string{"sh"}},
	}
}

// etcd returns etcd 3.4 with the name and the paths of the upstream image. Newer versions of etcd are built from Go
// modules: see Modules.
func etcd() Recipe {
	return Recipe{
		Name:     "etcd",
		Summary:  "etcd 3.4 and etcdctl as Debian builds them",
		Suite:    debian,
		Series:   "3.4",
		Packages: []string{"etcd-server", "etcd-client"},
		Without:  []string{adduser, initHelpers},
		Tags:     []string{"quay.io/coreos/etcd:v{version}"},
		Links:    map[string]string{"/usr/local/bin/etcd": "/usr/bin/etcd", "/usr/local/bin/etcdctl": "/usr/bin/etcdctl"},
		Config:   Config{Entrypoint: []string{"/usr/local/bin/etcd"}, Env: []string{"ETCDCTL_API=3"}},
	}
}

func memcached() Recipe {
	return Recipe{
		Name:     "memcached",
		Summary:  "memcached as Debian builds it",
		Suite:    trixie,
		Series:   "1.6",
		Packages: []string{"memcached"},
		Without:  []string{adduser, "lsb-base", "perl", "debconf", "sysvinit-utils", initHelpers},
		Tags:     []string{"memcached:{version}"},
		Accounts: []string{"memcache:x:11211:11211:memcache:/nonexistent:/usr/sbin/nologin"},
		// memcached refuses to run as root unless its arguments name a user.
		Config: Config{Entrypoint: []string{"memcached"}, User: "11211:11211"},
	}
}

// redis, redis8, valkey and valkey9 return images of Redis and Valkey from Debian's suites. Their names differ from the
// upstream names, because they lack the upstream entrypoint script.
func redis() Recipe {
	return redisServer("redis", debian, "7.0", "redis-server", "redis-tools")
}

func redis8() Recipe {
	r := redisServer("redis8", trixie, "8.0", "redis-server", "redis-tools")
	r.Tags = []string{"opcrew/redis:{version}", "opcrew/redis:{minor}"}
	return r
}

// upstreamValkey is the upstream image name, which the operator uses by default.
const upstreamValkey = "valkey/valkey:{minor}"

func valkey() Recipe {
	r := redisServer("valkey", trixie, "8.1", "valkey-server", "valkey-tools")
	r.Tags = append(r.Tags, upstreamValkey)
	return r
}

func valkey9() Recipe {
	r := redisServer("valkey9", forky, "9", "valkey-server", "valkey-tools")
	r.Tags = []string{"opcrew/valkey:{version}", "opcrew/valkey:{minor}", upstreamValkey}
	return r
}

// redisServer returns an image with a Redis or Valkey server and its tools.
func redisServer(name, suite, series string, packages ...string) Recipe {
	return Recipe{
		Name:     name,
		Summary:  packages[0] + " of " + suite + " as Debian builds it",
		Suite:    suite,
		Series:   series,
		Packages: packages,
		Without:  []string{adduser, "lsb-base", "sysvinit-utils", initHelpers},
		Tags:     []string{"opcrew/" + name + ":{version}", "opcrew/" + name + ":{minor}"},
		Config:   Config{Entrypoint: []string{packages[0]}, User: "1000:1000"},
	}
}

// nginx serves /usr/share/nginx/html at port 80, as the upstream image does. Its master process runs as root, and the
// workers do not.
func nginx() Recipe {
	return Recipe{
		Name:     "nginx",
		Summary:  "nginx as Debian builds it, with a page to serve",
		Suite:    trixie,
		Series:   "1.26",
		Packages: []string{"nginx"},
		Without:  []string{adduser, "iproute2", "lsb-base", "perl", "debconf", "sysvinit-utils", initHelpers},
		Tags:     []string{"nginx:{version}", "nginx:{minor}"},
		Accounts: []string{"www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin"},
		Files:    map[string]string{"/etc/nginx/nginx.conf": nginxConf},
		// nginx ends in the middle of a response on SIGTERM, but completes responses on SIGQUIT.
		Config: Config{Entrypoint: []string{"nginx", "-g", "daemon off;"}, StopSignal: "SIGQUIT"},
	}
}

// sshClient returns an image for machines that ansible manages over ssh, such as the client pods of a Diva: it runs
// sshd, and contains Python for ansible. It contains no host key, so its user must provide one.
func sshClient() Recipe {
	return Recipe{
		Name:     "diva-client",
		Summary:  "sshd and python3 as Debian builds them, to be managed",
		Suite:    trixie,
		Series:   "10.0p1",
		Packages: []string{"openssh-server", "python3", "dash", "coreutils", "util-linux"},
		Without:  []string{adduser, "debconf", initHelpers, "libpam-modules", "libpam-runtime", "lsb-base", "procps", "runit-helper", "ucf"},
		Tags:     []string{"diva-client:{version}"},
		// root has a shell, because the manager logs in as root.
		Files: map[string]string{
			"/etc/ssh/sshd_config": sshdConf, "/run/sshd/.keep": "",
			"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nsshd:x:110:65534::/run/sshd:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		},
		Config: Config{Entrypoint: []string{"/usr/sbin/sshd", "-D", "-e"}},
	}
}

const sshdConf = `Include /etc/ssh/sshd_config.d/*.conf
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
Subsystem sftp internal-sftp
`

// sshManager returns an image with ansible and an ssh client. Its container waits for commands from kubectl exec.
func sshManager() Recipe {
	return Recipe{
		Name:    "diva",
		Summary: "ansible and ssh as Debian builds them, to manage others",
		Suite:   trixie,
		Series:  "2.19",
		// ansible runs only in a UTF-8 locale, which libc-bin contains.
		Packages: []string{"ansible-core", "openssh-client", "dash", "coreutils", "libc-bin"},
		Without:  []string{adduser, "debconf", "passwd", "media-types"},
		Tags:     []string{"diva:{version}", "diva:{minor}"},
		Files:    map[string]string{"/etc/ssh/ssh_config": "Include /etc/ssh/ssh_config.d/*.conf\n"},
		Config:   Config{Cmd: []string{"sleep", "infinity"}, Env: []string{"HOME=/root", "LC_ALL=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}},
	}
}

// sshExtra returns an image for the init container of a Diva. It copies a playbook into /extra, a volume that the
// Diva's manager container mounts too.
func sshExtra() Recipe {
	return Recipe{
		Name:     "diva-extra",
		Summary:  "a playbook, and what copies it into /extra",
		Suite:    debian,
		Series:   "1.35",
		Packages: []string{"busybox-static"},
		Tags:     []string{"diva-extra:{version}", "diva-extra:{minor}"},
		Applets:  "/bin/busybox",
		Files:    map[string]string{"/playbooks/ping.yaml": "- hosts: clients\n  gather_facts: false\n  tasks: [{ping: {}}]\n"},
		Config:   Config{Cmd: []string{"cp", "-r", "/playbooks/.", "/extra"}},
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
