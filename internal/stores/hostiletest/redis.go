// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// ServeRedis starts one fake Redis server for each kind of hostile behaviour, and returns the addresses by kind.
func ServeRedis() map[string]string {
	out := map[string]string{}
	for name, serve := range redisSorts() {
		out[name] = Serve(serve)
	}
	return out
}

func redisSorts() map[string]func(net.Conn) {
	block := strings.Repeat("x", 64<<10)
	return map[string]func(net.Conn){
		"a text beyond all memory":  Endless("$9223372036854775800\r\n", block),
		"a list beyond all memory":  Endless("*9223372036854775807\r\n", block),
		"a text of a gigabyte":      Endless("$1073741824\r\n", block),
		"lists within lists":        Endless(strings.Repeat("*1\r\n", 10_000), strings.Repeat("*1\r\n", 10_000)),
		"lists of large lists":      Endless(strings.Repeat("*60000\r\n", 1000), "*60000\r\n"),
		"an endless line":           Endless("+", block),
		"an endless error":          Endless("-ERR ", block),
		"one byte a second":         Slow("$1000000\r\n" + block),
		"no answer":                 Hang,
		"a closed connection":       Close,
		"no protocol":               Endless("HTTP/1.1 200 OK\r\n", block),
		"the largest allowed texts": Endless("$1000000\r\n", block),
		"a table of many":           answering(table(10_000, 0)),
		"a table of all slots":      answering(strings.Repeat(table(1, 1), 5000)),
		"ranges without end":        answering("a 10.0.0.1:1@2 myself,master - 0 0 1 connected" + strings.Repeat(" 0-16383", 100_000) + "\n"),
		"fields without end":        answering(strings.Repeat("a:\r\n", 300_000)),
	}
}

// answering answers every command with the same text, except the commands of the login.
func answering(text string) func(net.Conn) {
	answer := fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
	return func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			name, err := command(in)
			if err != nil {
				return
			}
			said := answer
			switch {
			case strings.EqualFold(name, "HELLO"):
				said = "-ERR unknown command\r\n"
			case strings.EqualFold(name, "AUTH"), strings.EqualFold(name, "CLIENT"):
				said = "+OK\r\n"
			}
			if _, err := io.WriteString(conn, said); err != nil {
				return
			}
		}
	}
}

// command reads one command and returns its first word.
func command(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.Trim(line, "*\r\n"))
	if err != nil {
		return "", err
	}
	var first string
	for i := range n {
		if _, err := in.ReadString('\n'); err != nil {
			return "", err
		}
		word, err := in.ReadString('\n')
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = strings.TrimSpace(word)
		}
	}
	return first, nil
}

// table returns the output of CLUSTER NODES with the given number of nodes, at addresses outside the cluster. Each of
// the first nodes claims all slots; owners is the number of these nodes.
func table(nodes, owners int) string {
	var out strings.Builder
	for i := range nodes {
		slots := ""
		if i < owners {
			slots = " 0-16383"
		}
		fmt.Fprintf(&out, "%040x 169.254.169.254:%d@1 %s - 0 0 1 connected%s\n", i, i%65536, map[bool]string{true: "myself,master", false: "master"}[i == 0], slots)
	}
	return out.String()
}
