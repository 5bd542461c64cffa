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
	"golang.org/x/crypto/bcrypt"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/credentials"
	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// hostileVariable makes this test binary run as a second process that queries a hostile server. If a library panics,
// only this process ends.
const hostileVariable = "OPCREW_ATTACK_SERVER"

// answer is the response that a hostile Redis server sends to every command.
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
				t.Errorf("a process that queries a hostile server with the operator's client crashed (%v); the operator would crash too, and again after each restart\nsource: %s\nneeds %s\n%s", err, a.source, answers, beginning(out))
			}
		})
	}
}

// A client without opcrew's protection must crash, which shows that the responses are hostile.
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

// serve starts a server that accepts a client like an old Redis server, and sends text in response to every other
// command. It returns the server's address.
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
			go respond(conn, text)
		}
	}()
	return listener.Addr().String()
}

func respond(conn net.Conn, text string) {
	defer conn.Close()
	first := false // the next word is a command name
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "*"):
			first = true
			continue
		case strings.HasPrefix(line, "$") || !first:
			continue
		}
		first = false
		reply := text
		switch strings.ToUpper(line) {
		case "HELLO":
			reply = "-ERR unknown command\r\n"
		case "CLIENT", "AUTH":
			reply = "+OK\r\n"
		}
		if _, err := conn.Write([]byte(reply)); err != nil {
			return
		}
	}
}

// ask runs this test binary as a second process, in which function hostile carries out the action what. The time limit
// is the longest time for which a response may keep an operator busy.
func ask(t *testing.T, what, argument string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), hostileVariable+"="+what+" "+argument)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// hostile does what the environment variable hostileVariable says, and reports whether the variable is set. Errors of
// the actions are expected.
func hostile() bool {
	what, argument, ok := strings.Cut(os.Getenv(hostileVariable), " ")
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var result any
	switch what {
	case "bare":
		c := goredis.NewClient(&goredis.Options{Addr: argument, MaxRetries: -1})
		_, result = c.Do(ctx, "INFO").Result()
	case "operator":
		store, err := server.Dial(server.Target{Nodes: []server.Node{{Address: argument, Place: server.Home}}})
		if err == nil {
			_, err = store.Status(ctx, argument)
		}
		result = err
	case "compare-bare":
		result = bcrypt.CompareHashAndPassword([]byte(argument), []byte("password"))
	case "compare":
		result = credentials.Matches("tenant:"+argument, "tenant", "password")
	}
	fmt.Println("the result is", result)
	return true
}

// beginning returns the first lines of a process's output, which contain the message of a panic.
func beginning(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[:min(len(lines), 6)], "\n")
}

// hashAttacks returns lines of htpasswd files with hashes that take long to compare. A bcrypt hash of cost 31 takes a
// day.
func hashAttacks() []answer {
	return []answer{
		{"a hash of the cost 31", "review 5, CVE-2024-12401 (cert-manager)", 5, "$2a$31$" + strings.Repeat("x", 53)},
		{"a hash of the cost 24", "review 5", 5, "$2a$24$" + strings.Repeat("x", 53)},
	}
}

func TestNoHashOccupiesTheOperator(t *testing.T) {
	for _, a := range hashAttacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			if _, err := ask(t, "compare", a.text); err != nil {
				t.Errorf("comparing one hash takes the operator longer than 20 seconds (%v); eight such hashes would block all tenants\nsource: %s\nneeds %s", err, a.source, hashCost)
			}
			if _, err := ask(t, "compare-bare", a.text); err == nil {
				t.Error("expected a bare comparison to take longer: this hash proves nothing")
			}
		})
	}
}
