// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command hostilestore acts as redis-server, etcd, memcached or sshd, depending on the name under which it runs. It
// connects each client to a random server of package hostiletest. Each of these servers sends a different type of wrong
// response. Under the names of programs whose output opcrew or the kubelet reads, it writes wrong or endless output.
// Tests run the command in pods of the local cluster.
package main

import (
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/hostiletest"
)

const (
	// etcdAddress is the address on which clients expect etcd to listen.
	etcdAddress = ":2379"
	// sshAddress is the address of sshd. Users other than root may listen on it.
	sshAddress = ":2222"
)

// listenPort matches the line of redis.conf that sets the port.
var listenPort = regexp.MustCompile(`(?m)^port (\d+)$`)

func main() {
	if err := run(filepath.Base(os.Args[0]), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(name string, args []string) error {
	switch name {
	case "etcd":
		return serve(etcdAddress, hosts(hostiletest.ServeEtcd()))
	case "memcached":
		return memcached(args)
	case "sshd":
		return sshd(args)
	case "opcrew-agent":
		return agent(args)
	case "memcached_exporter":
		return exporter()
	}
	return redis(name, args)
}

func redis(name string, args []string) error {
	switch {
	case len(args) != 1:
		return fmt.Errorf("usage: %s --version | FILE", name)
	case args[0] == "--version":
		fmt.Println("Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64 build=0")
		return nil
	}
	config, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	port := listenPort.FindSubmatch(config)
	if port == nil {
		return fmt.Errorf("%s names no port", args[0])
	}
	return serve(":"+string(port[1]), hostiletest.ServeRedis())
}

func memcached(args []string) error {
	i := slices.Index(args, "-p")
	if i < 0 || i+1 == len(args) {
		return errors.New("usage: memcached -p PORT")
	}
	return serve(":"+args[i+1], hostiletest.ServeMemcached())
}

// sshd also runs where an image of a Diva must only end, such as the one with extra files.
func sshd(args []string) error {
	if slices.Contains(args, "-V") {
		fmt.Println("OpenSSH_10.0")
		return nil
	}
	return serve(sshAddress, hostiletest.ServeSSH())
}

// hosts returns the host and port of each URL.
func hosts(urls map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range urls {
		if parsed, err := url.Parse(text); err == nil {
			out[name] = parsed.Host
		}
	}
	return out
}
