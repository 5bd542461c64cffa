// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// hostileVariable has a second process of this test ask a hostile server: a panic in a library ends only that.
const hostileVariable = "OPCREW_ATTACK_SERVER"

// answer is what a hostile Redis server sends for every command.
type answer struct {
	name, source string
	item         int
	text         string
}

func serverAttacks() []answer {
	return []answer{
		{"a string of 9 EB", "review 2, CVE-2021-32675 (Redis)", 2, "$9223372036854775800\r\n"},
		{"a list of 9 EB", "review 2, CVE-2021-32675 (Redis)", 2, "*9223372036854775807\r\n"},
		{"a map of 9 EB", "review 2", 2, "%9223372036854775807\r\n"},
		{"a string of a negative length", "review 2", 2, "$-9223372036854775807\r\n"},
		{"a list in a list without end", "review 2, CVE-2019-11253", 2, strings.Repeat("*1\r\n", 1<<20)},
	}
}

func TestNoAnswerOfAServerEndsTheOperator(t *testing.T) {
	for _, a := range serverAttacks() {
		t.Run(a.name, func(t *testing.T) {
			out, err := ask(t, "operator", serve(t, a.text))
			if err != nil {
				t.Errorf("a process that asks a server with the operator's client ends with %v: the operator would end too, again after each restart\nsource: %s\nneeds %s\n%s", err, a.source, answers, last(out))
			}
		})
	}
}

// A bare client shows that the answers are hostile.
func TestSomeAnswersEndABareClient(t *testing.T) {
	ended := 0
	for _, a := range serverAttacks() {
		if _, err := ask(t, "bare", serve(t, a.text)); err != nil {
			ended++
		}
	}
	if ended == 0 {
		t.Error("expected some answer to end a process with a bare client: these answers prove nothing")
	}
}

// serve answers every line with a text, and returns the address.
func serve(t *testing.T, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			go func() {
				defer conn.Close()
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					if _, err := conn.Write([]byte(text)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// ask runs this test again as a process that asks a server.
func ask(t *testing.T, with, address string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), hostileVariable+"="+with+" "+address, "GOMEMLIMIT=256MiB")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// hostile asks the server that the variable names, if any, and reports whether there is one. Errors are expected.
func hostile() bool {
	with, address, ok := strings.Cut(os.Getenv(hostileVariable), " ")
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if with == "bare" {
		c := goredis.NewClient(&goredis.Options{Addr: address, MaxRetries: -1})
		_, err := c.Do(ctx, "INFO").Result()
		fmt.Println("answered with", err)
		return true
	}
	store, err := server.Dial(server.Target{Nodes: []server.Node{{Address: address, Place: server.Home}}})
	if err == nil {
		_, err = store.Status(ctx, address)
	}
	fmt.Println("answered with", err)
	return true
}

// last are the last lines of an output.
func last(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[:min(len(lines), 6)], "\n")
}
