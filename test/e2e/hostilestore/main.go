// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command hostilestore pretends to be redis-server or etcd, by its own name. It connects each client to the next of the
// servers of package hostiletest, so that a client meets each kind of lie. Tests run it in pods of the local cluster.
package main

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"

	"github.com/opcrew/opcrew/internal/stores/hostiletest"
)

// etcdAddress is where etcd's clients connect.
const etcdAddress = ":2379"

// listenPort matches the directive of redis.conf that names the port.
var listenPort = regexp.MustCompile(`(?m)^port (\d+)$`)

func main() {
	if err := run(filepath.Base(os.Args[0]), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(name string, args []string) error {
	switch {
	case name == "etcd":
		return serve(etcdAddress, hosts(hostiletest.ServeEtcd()))
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

// hosts returns the addresses of URLs.
func hosts(urls map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range urls {
		if parsed, err := url.Parse(text); err == nil {
			out[name] = parsed.Host
		}
	}
	return out
}

// serve connects each client of an address to the next server, and logs which.
func serve(address string, servers map[string]string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(servers))
	var count atomic.Int64
	for {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		name := names[int(count.Add(1)-1)%len(names)]
		log.Printf("%s gets: %s", client.RemoteAddr(), name)
		go connect(client, servers[name])
	}
}

// connect copies between a client and a server until either closes.
func connect(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		log.Print(err)
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}
