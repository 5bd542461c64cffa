// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
)

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
