// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command hostilestore acts as redis-server or as etcd, depending on the name under which it runs. It connects each
// client to a random server of package hostiletest. Each of these servers sends a different type of wrong response.
// Tests run the command in pods of the local cluster.
package main

import (
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/hostiletest"
)

// etcdAddress is the address on which clients expect etcd to listen.
const etcdAddress = ":2379"

// listenPort matches the line of redis.conf that sets the port.
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

// serve listens on an address. It connects each client to a random server, and logs the name of this server. With a
// fixed order of the servers, the first client after each restart of the pod would get the same server.
func serve(address string, servers map[string]string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(servers))
	for {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		name := names[rand.IntN(len(names))]
		log.Printf("%s gets: %s", client.RemoteAddr(), name)
		go connect(client, servers[name])
	}
}

// connect copies bytes between a client and a server until one of them closes its connection.
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
